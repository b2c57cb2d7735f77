//! Traffic of a client outside the tunnel, by `--leak`, on six machines.

use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use super::{BARE, WEB, WEB_V6, connects, listen};
use crate::network::Namespace;
use crate::world::{RELAY, SERVER, World, seen_as, serve, until_seen_as};

fn is_out(machine: &Namespace) -> bool {
    connects(machine, WEB) || connects(machine, WEB_V6)
}

#[test]
fn leak_block_lets_nothing_out_but_by_the_tunnel() {
    let Some(world) = World::new() else {
        return;
    };
    serve(&world.inet, WEB);
    serve(&world.inet, WEB_V6);
    world.van.sh("ip addr add 2001:db8:1::2/64 dev wlan0 nodad
         ip -6 route add default via 2001:db8:1::1 dev wlan0");
    assert!(connects(&world.van, WEB_V6));
    // A more specific route, as from DHCP.
    world.van.sh(&format!(
        "ip route add {SERVER}/32 via 192.168.1.1 dev wlan0"
    ));
    let shell = listen(&world.van, "0.0.0.0:22");
    let block = "--leak block";
    let mut van = world.start_van(block);
    van.wait_for("is up");
    until_blocked(&world.van);
    assert!(
        !is_out(&world.van) && !is_out(&world.lan),
        "the relay is away"
    );

    let relay = world.start_relay("");
    until_seen_as(&world.van, WEB, RELAY);
    until_seen_as(&world.lan, WEB, RELAY);
    assert!(!connects(&world.van, WEB_V6), "IPv6");
    let bound = world.van.make(|| {
        let socket = UdpSocket::bind("192.168.1.2:0").unwrap();
        socket2::SockRef::from(&socket)
            .bind_device(Some(b"wlan0"))
            .unwrap();
        socket.send_to(b"leak", (SERVER, 7000))
    });
    assert!(bound.is_err(), "a program that chooses a link");
    assert!(
        connects(&world.inet, "192.168.1.2:22"),
        "a shell over a link"
    );
    assert!(connects(&world.lan, "192.168.50.1:22"), "a shell of lan");
    let _lan = listen(&world.lan, "0.0.0.0:22");
    assert!(connects(&world.van, "192.168.50.10:22"));

    van.kill();
    assert!(!is_out(&world.van) && !is_out(&world.lan), "killed");
    // A route that disappears with the device does not expose traffic.
    world
        .van
        .sh("ip rule flush; ip rule add pref 0 lookup local; ip rule add pref 32766 lookup main");
    assert!(!is_out(&world.van) && !is_out(&world.lan), "rules are lost");

    let van = world.start_van(block);
    until_seen_as(&world.van, WEB, RELAY);
    assert!(van.terminate().success());
    assert!(!is_out(&world.van) && !is_out(&world.lan), "terminated");

    let van = world.start_van(block);
    until_seen_as(&world.van, WEB, RELAY);
    assert!(relay.terminate().success());
    assert!(!is_out(&world.van) && !is_out(&world.lan), "the relay ends");
    assert!(van.interrupt().success());
    assert_eq!(seen_as(&world.van, WEB), Ok(BARE.parse().unwrap()));
    assert!(connects(&world.van, WEB_V6));
    drop(shell);
}

fn until_blocked(machine: &Namespace) {
    for _ in 0..100 {
        if !is_out(machine) {
            return;
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("it still reaches the internet");
}

#[test]
fn leak_block_stays_between_prepare_and_purge() {
    let Some(world) = World::new() else {
        return;
    };
    serve(&world.inet, WEB);
    let run = |verb: &str| {
        let arguments = world.van_arguments(&format!("--leak block --run-hook {verb}"));
        let done = world.van.output(&arguments);
        assert!(done.status.success(), "{done:?}");
    };
    run("prepare");
    assert!(!is_out(&world.van), "before the tunnel is started");
    // One program of one user may leave directly, for a captive portal.
    world.van.sh(
        "nft insert rule inet ropewalk_ropewalk0 output meta skuid 1234 accept
         ip rule add pref 100 uidrange 1234-1234 lookup main",
    );
    let is_out_as = |user: &str| {
        let mut command = world.van.command("setpriv");
        command.args([
            "--reuid",
            user,
            "--clear-groups",
            "timeout",
            "2",
            "bash",
            "-c",
        ]);
        let done = command.arg("exec 3<>/dev/tcp/9.9.9.10/7000").output();
        done.unwrap().status.success()
    };
    assert!(is_out_as("1234") && !is_out_as("1235"));
    run("down");
    assert!(!is_out(&world.van));
    run("purge");
    assert!(is_out(&world.van));
}

#[test]
fn leak_allow_takes_the_links_until_the_relay_has_answered() {
    let Some(world) = World::new() else {
        return;
    };
    serve(&world.inet, WEB);
    world.van.sh("ip addr add 2001:db8:1::2/64 dev wlan0 nodad
         ip -6 route add default via 2001:db8:1::1 dev wlan0");
    let van = world.start_van("");
    van.wait_for("IPv6 leaves outside the tunnel, by wlan0");
    van.wait_for("is up");
    while !world.van.output_of("ip", "rule").contains("4434") {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(seen_as(&world.van, WEB), Ok(BARE.parse().unwrap()));
    let _relay = world.start_relay("");
    until_seen_as(&world.van, WEB, RELAY);
    drop(van);
    assert_eq!(seen_as(&world.van, WEB), Ok(BARE.parse().unwrap()));
}
