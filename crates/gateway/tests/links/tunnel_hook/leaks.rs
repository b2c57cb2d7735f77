//! Traffic of a client outside the tunnel, by `--leak`, on six machines.

use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

use super::{LINK_ADDRESS, WEB, WEB_V6, connects, listen};
use crate::machines::{RELAY, SERVER, machines, seen_as, serve, wait_until_seen_as};
use crate::network::Namespace;

fn is_out(machine: &Namespace) -> bool {
    connects(machine, WEB) || connects(machine, WEB_V6)
}

#[test]
fn leak_block_sends_only_through_the_tunnel() {
    let Some(machines) = machines() else { return };
    serve(&machines.inet, WEB);
    serve(&machines.inet, WEB_V6);
    machines
        .van
        .sh("ip addr add 2001:db8:1::2/64 dev wlan0 nodad
         ip -6 route add default via 2001:db8:1::1 dev wlan0");
    assert!(connects(&machines.van, WEB_V6));
    // A more specific route, as from DHCP.
    machines.van.sh(&format!(
        "ip route add {SERVER}/32 via 192.168.1.1 dev wlan0"
    ));
    let shell = listen(&machines.van, "0.0.0.0:22");
    let block = "--leak block";
    let mut van = machines.start_van(block);
    van.wait_for("is up");
    until_blocked(&machines.van);
    assert!(
        !is_out(&machines.van) && !is_out(&machines.lan),
        "the relay is away"
    );

    let relay = machines.start_relay("");
    wait_until_seen_as(&machines.van, WEB, RELAY);
    wait_until_seen_as(&machines.lan, WEB, RELAY);
    assert!(!connects(&machines.van, WEB_V6), "IPv6");
    let bound = machines.van.in_thread(|| {
        let socket = UdpSocket::bind("192.168.1.2:0").unwrap();
        socket2::SockRef::from(&socket)
            .bind_device(Some(b"wlan0"))
            .unwrap();
        socket.send_to(b"leak", (SERVER, 7000))
    });
    assert!(bound.is_err(), "a program that chooses a link");
    assert!(
        connects(&machines.inet, "192.168.1.2:22"),
        "a shell over a link"
    );
    assert!(connects(&machines.lan, "192.168.50.1:22"), "a shell of lan");
    let _lan = listen(&machines.lan, "0.0.0.0:22");
    assert!(connects(&machines.van, "192.168.50.10:22"));

    van.kill();
    assert!(!is_out(&machines.van) && !is_out(&machines.lan), "killed");
    // A route that disappears with the device does not expose traffic.
    machines
        .van
        .sh("ip rule flush; ip rule add pref 0 lookup local; ip rule add pref 32766 lookup main");
    assert!(
        !is_out(&machines.van) && !is_out(&machines.lan),
        "rules are lost"
    );

    let van = machines.start_van(block);
    wait_until_seen_as(&machines.van, WEB, RELAY);
    assert!(van.terminate().success());
    assert!(
        !is_out(&machines.van) && !is_out(&machines.lan),
        "terminated"
    );

    let van = machines.start_van(block);
    wait_until_seen_as(&machines.van, WEB, RELAY);
    assert!(relay.terminate().success());
    assert!(
        !is_out(&machines.van) && !is_out(&machines.lan),
        "the relay ends"
    );
    assert!(van.interrupt().success());
    assert_eq!(
        seen_as(&machines.van, WEB),
        Ok(LINK_ADDRESS.parse().unwrap())
    );
    assert!(connects(&machines.van, WEB_V6));
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
fn leak_block_lasts_from_prepare_to_purge() {
    let Some(machines) = machines() else { return };
    serve(&machines.inet, WEB);
    let run = |verb: &str| {
        let arguments = machines.van_arguments(&format!("--leak block --run-hook {verb}"));
        let done = machines.van.output(&arguments);
        assert!(done.status.success(), "{done:?}");
    };
    run("prepare");
    assert!(!is_out(&machines.van), "before the tunnel is started");
    // One program of one user may leave directly, for a captive portal.
    machines.van.sh(
        "nft insert rule inet ropewalk_ropewalk0 output meta skuid 1234 accept
         ip rule add pref 100 uidrange 1234-1234 lookup main",
    );
    let is_out_as = |user: &str| {
        let mut command = machines.van.command("setpriv");
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
    assert!(!is_out(&machines.van));
    run("purge");
    assert!(is_out(&machines.van));
}

#[test]
fn leak_allow_uses_the_links_until_the_relay_answers() {
    let Some(machines) = machines() else { return };
    serve(&machines.inet, WEB);
    machines
        .van
        .sh("ip addr add 2001:db8:1::2/64 dev wlan0 nodad
         ip -6 route add default via 2001:db8:1::1 dev wlan0");
    let van = machines.start_van("");
    van.wait_for("IPv6 traffic bypasses the tunnel over wlan0");
    van.wait_for("is up");
    while !machines.van.output_of("ip", "rule").contains("4434") {
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        seen_as(&machines.van, WEB),
        Ok(LINK_ADDRESS.parse().unwrap())
    );
    let _relay = machines.start_relay("");
    wait_until_seen_as(&machines.van, WEB, RELAY);
    drop(van);
    assert_eq!(
        seen_as(&machines.van, WEB),
        Ok(LINK_ADDRESS.parse().unwrap())
    );
}
