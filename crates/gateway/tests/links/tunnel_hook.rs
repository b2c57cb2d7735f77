//! The packaged hook and the tunnel's packet filters on six machines.

use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use crate::network::{Namespace, echo};
use crate::process::Gateway;
use crate::world::{Download, RELAY, SERVER, World, seen_as, serve, until_seen_as};

mod leaks;

const WEB: &str = "9.9.9.10:7000";
const WEB_V6: &str = "[2620:fe::10]:7000";
/// The van's address on its first link.
const BARE: &str = "192.168.1.2";

/// How an end of a tunnel ends before it is started again.
#[derive(Clone, Copy, Debug)]
enum End {
    Terminated,
    Killed,
}

fn end(mut gateway: Gateway, end: End) {
    match end {
        End::Terminated => assert!(gateway.terminate().success()),
        End::Killed => gateway.kill(),
    }
    // Servers retransmit meanwhile.
    thread::sleep(Duration::from_secs(1));
}

fn downloads(world: &World) -> [Download; 2] {
    serve(&world.inet, WEB);
    until_seen_as(&world.van, WEB, RELAY);
    until_seen_as(&world.lan, WEB, RELAY);
    [&world.van, &world.lan].map(|machine| Download::start(machine, WEB))
}

fn expect_both(downloads: &[Download; 2], when: &str) {
    for (who, download) in ["van", "lan"].into_iter().zip(downloads) {
        let took = download.until_it_goes_on(&format!("{when}, {who}"));
        println!("{when}: {who} after {} ms", took.as_millis());
    }
}

#[test]
fn downloads_of_van_and_lan_outlive_restarts_of_the_relay() {
    let Some(world) = World::new() else {
        return;
    };
    let mut relay = world.start_relay("");
    let _van = world.start_van("");
    let downloads = downloads(&world);
    for how in [End::Killed, End::Terminated, End::Killed, End::Terminated] {
        expect_both(&downloads, &format!("before {how:?}"));
        end(relay, how);
        relay = world.start_relay("");
        expect_both(&downloads, &format!("{how:?}"));
    }
}

#[test]
fn downloads_of_van_and_lan_outlive_restarts_of_the_van() {
    let Some(world) = World::new() else {
        return;
    };
    let _relay = world.start_relay("");
    let mut van = world.start_van("");
    let downloads = downloads(&world);
    for (how, leak) in [
        (End::Killed, "allow"),
        (End::Terminated, "allow"),
        (End::Killed, "block"),
        (End::Terminated, "block"),
    ] {
        expect_both(&downloads, &format!("before {how:?}"));
        end(van, how);
        van = world.start_van(&format!("--leak {leak}"));
        expect_both(&downloads, &format!("{how:?}, {leak}"));
    }
}

/// Listens without accepting: the kernel completes connections.
fn listen(machine: &Namespace, at: &str) -> TcpListener {
    let at: SocketAddr = at.parse().unwrap();
    machine.make(move || TcpListener::bind(at).unwrap())
}

fn connects(machine: &Namespace, to: &str) -> bool {
    let to: SocketAddr = to.parse().unwrap();
    machine.make(move || TcpStream::connect_timeout(&to, Duration::from_secs(2)).is_ok())
}

fn other_client(world: &World) -> Gateway {
    let done = world.van.output(&format!("keygen {}", world.file("other")));
    assert!(done.status.success(), "{done:?}");
    let key = std::fs::read_to_string(world.file("other.pub")).unwrap();
    let list = std::fs::read_to_string(world.file("clients")).unwrap();
    let list = format!(
        "{list}{} addresses=10.9.0.3\n",
        key.trim().replace("van", "other")
    );
    std::fs::write(world.file("clients"), list).unwrap();
    world.private.gateway(&format!(
        "tunnel --relay 10.66.0.1:4434 --relay-key {} --key {} --link one=eth0 \
         --address 10.9.0.3/24 --device ropewalk0 --control {}",
        world.file("relay.pub"),
        world.file("other.key"),
        world.file("other.sock")
    ))
}

#[test]
fn a_client_reaches_what_the_relays_rules_allow() {
    let Some(world) = World::new() else {
        return;
    };
    let other = other_client(&world);
    world.relay.sh("ip addr add 169.254.169.254/32 dev eth1");
    let _shells = ["0.0.0.0:22", "[::1]:23"].map(|at| listen(&world.relay, at));
    let _shell = listen(&world.relay, "[2001:db8:3::2]:22");
    let _private = ["10.66.0.5:22", "10.9.0.3:22"].map(|at| {
        other.wait_for("is up");
        listen(&world.private, at)
    });
    serve(&world.inet, WEB);
    let own = [
        "10.9.0.1:22",
        "203.0.113.2:22",
        "10.66.0.1:22",
        "[2001:db8:3::2]:22",
    ];
    let (private, client) = ("10.66.0.5:22", "10.9.0.3:22");
    let metadata = "169.254.169.254:22";
    let mut relay = world.start_relay("");
    let _van = world.start_van("--address fd00:9::2/64");
    until_seen_as(&world.van, WEB, RELAY);
    for refused in own.iter().chain([&private, &client, &metadata]) {
        assert!(!connects(&world.van, refused), "{refused}");
    }
    for (rules, allowed, refused) in [
        (
            "--allow public --allow own:22",
            &own[..],
            &[private, client][..],
        ),
        (
            "--allow public --allow private",
            &[private],
            &[own[0], own[1], own[2], client],
        ),
        (
            "--allow public --allow 10.9.0.0/24:22",
            &[own[0], client],
            &[private, own[1]],
        ),
        (
            "--allow public --allow own --deny 203.0.113.0/24",
            &[own[0], own[2]],
            &[own[1]],
        ),
    ] {
        end(relay, End::Terminated);
        relay = world.start_relay(rules);
        until_seen_as(&world.van, WEB, RELAY);
        other.wait_for("the relay answers");
        for target in allowed {
            // Another client may need more time.
            let reached = (0..20).any(|_| connects(&world.van, target));
            assert!(reached, "{rules}: {target}");
        }
        for target in refused {
            assert!(!connects(&world.van, target), "{rules}: {target}");
        }
    }
    end(relay, End::Terminated);
    let _relay = world.start_relay("--allow 203.0.113.2:22 --deny public");
    let own = (0..60).any(|_| connects(&world.van, own[1]));
    assert!(own, "a rule names it");
    assert!(!connects(&world.van, WEB), "public is denied");
}

#[test]
fn a_relay_follows_its_rules_for_targets_at_a_reload() {
    let Some(world) = World::new() else {
        return;
    };
    let file = world.file("relay.toml");
    let allow = |rules: &str| std::fs::write(&file, format!("allow = [{rules}]\n")).unwrap();
    allow("\"public\"");
    let relay = world.start_relay(&format!("--config {file}"));
    let _van = world.start_van("");
    serve(&world.inet, WEB);
    serve(&world.private, "10.66.0.5:22");
    until_seen_as(&world.van, WEB, RELAY);
    let download = Download::start(&world.van, WEB);
    let private = "10.66.0.5:22";
    assert!(!connects(&world.van, private));
    let reload = |times: usize| {
        relay.reload();
        while relay.log().matches("read anew: 1 clients").count() < times {
            thread::sleep(Duration::from_millis(5));
        }
    };
    allow("\"public\", \"private\"");
    reload(1);
    assert!(!relay.log().contains("takes a restart"), "{}", relay.log());
    assert!(connects(&world.van, private));
    let established = Download::start(&world.van, private);
    // The rules now allow less. Established connections and NAT stay.
    allow("\"203.0.113.0/24\"");
    reload(2);
    assert!(!connects(&world.van, private) && !connects(&world.van, WEB));
    established.until_it_goes_on("a connection of a rule that is gone");
    download.until_it_goes_on("a connection from before the reloads");
    allow("\"nowhere\"");
    relay.reload();
    relay.wait_for("not read anew, all stays as it was: ");
    allow("\"public\"");
    reload(3);
    until_seen_as(&world.van, WEB, RELAY);
}

fn tracked(machine: &Namespace) -> usize {
    let path = "/proc/sys/net/netfilter/nf_conntrack_count";
    machine.output_of("cat", path).trim().parse().unwrap()
}

#[test]
fn connections_of_a_client_that_the_relay_tracks_are_bounded() {
    let Some(world) = World::new() else {
        return;
    };
    let other = other_client(&world);
    let _relay = world.start_relay("--client-connections 50");
    let _van = world.start_van("");
    other.wait_for("the relay answers");
    serve(&world.inet, WEB);
    until_seen_as(&world.van, WEB, RELAY);
    let download = Download::start(&world.van, WEB);
    download.until_it_goes_on("before");
    let before = tracked(&world.relay);
    let socket = world.van.make(|| UdpSocket::bind("0.0.0.0:0").unwrap());
    for port in 10_000..10_500 {
        let _ = socket.send_to(b"x", ("9.9.9.9", port));
        let _ = socket.send_to(b"x", ("10.9.0.1", port));
        thread::sleep(Duration::from_millis(1));
    }
    while tracked(&world.relay) < before + 40 {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!connects(&world.van, WEB));
    download.until_it_goes_on("while the client has all that it may have");
    world
        .private
        .sh("ip route add 9.9.9.10 dev ropewalk0 src 10.9.0.3");
    assert!((0..20).any(|_| connects(&world.private, WEB)));
    let tracked = tracked(&world.relay);
    println!("{tracked} entries, {before} before");
    assert!(tracked <= before + 60, "{tracked}, {before} before");
}

#[test]
fn no_stranger_reaches_a_client_through_the_relay() {
    let Some(world) = World::new() else {
        return;
    };
    let _relay = world.start_relay("");
    let _van = world.start_van("");
    serve(&world.inet, WEB);
    until_seen_as(&world.van, WEB, RELAY);
    let _open = listen(&world.van, "0.0.0.0:22");
    world
        .inet
        .sh(&format!("ip route add 10.9.0.0/24 via {RELAY}"));
    assert!(!connects(&world.inet, "10.9.0.2:22"));
    assert!(connects(&world.relay, "10.9.0.2:22"));
}

/// The new hook reads the notes of the old one after an upgrade.
#[test]
fn purge_restores_sysctls_that_an_earlier_hook_noted() {
    let Some(world) = World::new() else {
        return;
    };
    world.relay.sh("echo 1 >/proc/sys/net/ipv4/ip_forward
         mkdir /run/ropewalk-hook
         echo 'sysctl net/ipv4/ip_forward 0' >/run/ropewalk-hook/ropewalk0");
    let forwards = || {
        world
            .relay
            .output_of("cat", "/proc/sys/net/ipv4/ip_forward")
    };
    for (verb, expected) in [("down", "1\n"), ("up", "1\n"), ("purge", "0\n")] {
        let arguments = world.relay_arguments(&format!("--run-hook {verb}"));
        let done = world.relay.output(&arguments);
        assert!(done.status.success(), "{done:?}");
        assert_eq!(forwards(), expected, "{verb}");
    }
}

fn until_echoed(machine: &Namespace, port: u16) {
    let socket = machine.make(move || UdpSocket::bind(("0.0.0.0", port)).unwrap());
    socket
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    for _ in 0..300 {
        // A late ICMP message may be an error here.
        let _ = socket.send_to(b"hello", (SERVER, 7001));
        if socket.recv(&mut [0; 16]).is_ok() {
            return;
        }
    }
    panic!("no echo");
}

#[test]
fn a_flow_that_began_outside_the_tunnel_is_translated_inside() {
    let Some(world) = World::new() else {
        return;
    };
    echo(&world.inet, "9.9.9.10:7001");
    serve(&world.inet, WEB);
    let _relay = world.start_relay("");
    // Connection tracking has begun, and stays when a tunnel is killed.
    let mut van = world.start_van("");
    until_seen_as(&world.lan, WEB, RELAY);
    van.kill();
    // Over a link, with the network's own source.
    let flow = world.lan.make(|| UdpSocket::bind("0.0.0.0:5555").unwrap());
    for _ in 0..3 {
        flow.send_to(b"hello", (SERVER, 7001)).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    drop(flow);
    let van = world.start_van("");
    until_seen_as(&world.van, WEB, RELAY);
    until_echoed(&world.lan, 5555);
    van.wait_for("192.168.50.10 refused");
}

#[test]
fn without_nat_a_foreign_source_is_told_by_icmp() {
    let Some(world) = World::new() else {
        return;
    };
    let _relay = world.start_relay("");
    serve(&world.inet, WEB);
    // A hook that only sets up routes.
    let text = "#!/bin/sh\ntest $1 != up || ip rule add pref 9 lookup 9\n\
                test $1 != up || ip route add 9.9.9.10 dev $ROPEWALK_DEVICE table 9\n";
    let path = world.file("hook");
    std::fs::write(&path, text).unwrap();
    world.van.sh(&format!("chmod +x {path}"));
    let arguments = world
        .van_arguments("")
        .replace(&crate::world::hook(), &path);
    let van = world.van.gateway(&arguments);
    van.wait_for("the relay answers");
    let refused = (0..50).find_map(|_| {
        let error = seen_as(&world.lan, WEB).unwrap_err();
        thread::sleep(Duration::from_millis(50));
        error.contains("No route to host").then_some(error)
    });
    println!("{refused:?}");
    assert!(refused.is_some());
    van.wait_for("192.168.50.10 refused");
}
