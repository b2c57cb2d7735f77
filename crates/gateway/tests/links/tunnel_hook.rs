//! The packaged hook and the tunnel's packet filters on six machines.

use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::machines::{
    Download, Machines, RELAY, SERVER, hook, machines, missing_requirement, seen_as, serve,
    wait_until_seen_as,
};
use crate::network::{Namespace, echo};
use crate::process::Gateway;

mod leaks;

const WEB: &str = "9.9.9.10:7000";
const WEB_V6: &str = "[2620:fe::10]:7000";
/// The van's address on its first link.
const LINK_ADDRESS: &str = "192.168.1.2";

/// How an end of a tunnel ends before it is started again.
#[derive(Clone, Copy, Debug)]
enum Termination {
    Terminated,
    Killed,
}

fn end(mut gateway: Gateway, how: Termination) {
    match how {
        Termination::Terminated => assert!(gateway.terminate().success()),
        Termination::Killed => gateway.kill(),
    }
    // Servers retransmit meanwhile.
    thread::sleep(Duration::from_secs(1));
}

fn downloads(machines: &Machines) -> [Download; 2] {
    serve(&machines.inet, WEB);
    wait_until_seen_as(&machines.van, WEB, RELAY);
    wait_until_seen_as(&machines.lan, WEB, RELAY);
    [&machines.van, &machines.lan].map(|machine| Download::start(machine, WEB))
}

fn expect_both(downloads: &[Download; 2], when: &str) {
    for (who, download) in ["van", "lan"].into_iter().zip(downloads) {
        let took = download.wait_for_progress(&format!("{when}, {who}"));
        println!("{when}: {who} after {} ms", took.as_millis());
    }
}

#[test]
fn downloads_survive_restarts_of_the_relay() {
    let Some(machines) = machines() else { return };
    let mut relay = machines.start_relay("");
    let _van = machines.start_van("");
    let downloads = downloads(&machines);
    for how in [
        Termination::Killed,
        Termination::Terminated,
        Termination::Killed,
        Termination::Terminated,
    ] {
        expect_both(&downloads, &format!("before {how:?}"));
        end(relay, how);
        relay = machines.start_relay("");
        expect_both(&downloads, &format!("{how:?}"));
    }
}

#[test]
fn downloads_survive_restarts_of_the_client() {
    let Some(machines) = machines() else { return };
    let _relay = machines.start_relay("");
    let mut van = machines.start_van("");
    let downloads = downloads(&machines);
    for (how, leak) in [
        (Termination::Killed, "allow"),
        (Termination::Terminated, "allow"),
        (Termination::Killed, "block"),
        (Termination::Terminated, "block"),
    ] {
        expect_both(&downloads, &format!("before {how:?}"));
        end(van, how);
        van = machines.start_van(&format!("--leak {leak}"));
        expect_both(&downloads, &format!("{how:?}, {leak}"));
    }
}

/// Listens without accepting: the kernel completes connections.
fn listen(machine: &Namespace, at: &str) -> TcpListener {
    let at: SocketAddr = at.parse().unwrap();
    machine.in_thread(move || TcpListener::bind(at).unwrap())
}

fn connects(machine: &Namespace, to: &str) -> bool {
    let to: SocketAddr = to.parse().unwrap();
    machine.in_thread(move || TcpStream::connect_timeout(&to, Duration::from_secs(2)).is_ok())
}

fn other_client(machines: &Machines) -> Gateway {
    let done = machines
        .van
        .output(&format!("keygen {}", machines.file("other")));
    assert!(done.status.success(), "{done:?}");
    let key = std::fs::read_to_string(machines.file("other.pub")).unwrap();
    let list = std::fs::read_to_string(machines.file("clients")).unwrap();
    let list = format!(
        "{list}{} addresses=10.9.0.3\n",
        key.trim().replace("van", "other")
    );
    std::fs::write(machines.file("clients"), list).unwrap();
    machines.private.gateway(&format!(
        "tunnel --relay 10.66.0.1:4434 --relay-key {} --key {} --link one=eth0 \
         --address 10.9.0.3/24 --device ropewalk0 --control {}",
        machines.file("relay.pub"),
        machines.file("other.key"),
        machines.file("other.sock")
    ))
}

#[test]
fn client_reaches_only_allowed_targets() {
    let Some(machines) = machines() else { return };
    let other = other_client(&machines);
    machines.relay.sh("ip addr add 169.254.169.254/32 dev eth1");
    let _shells = ["0.0.0.0:22", "[::1]:23"].map(|at| listen(&machines.relay, at));
    let _shell = listen(&machines.relay, "[2001:db8:3::2]:22");
    let _private = ["10.66.0.5:22", "10.9.0.3:22"].map(|at| {
        other.wait_for("is up");
        listen(&machines.private, at)
    });
    serve(&machines.inet, WEB);
    let own = [
        "10.9.0.1:22",
        "203.0.113.2:22",
        "10.66.0.1:22",
        "[2001:db8:3::2]:22",
    ];
    let (private, client) = ("10.66.0.5:22", "10.9.0.3:22");
    let metadata = "169.254.169.254:22";
    let mut relay = machines.start_relay("");
    let _van = machines.start_van("--address fd00:9::2/64");
    wait_until_seen_as(&machines.van, WEB, RELAY);
    for refused in own.iter().chain([&private, &client, &metadata]) {
        assert!(!connects(&machines.van, refused), "{refused}");
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
        end(relay, Termination::Terminated);
        relay = machines.start_relay(rules);
        wait_until_seen_as(&machines.van, WEB, RELAY);
        other.wait_for("the relay answers");
        for target in allowed {
            // Another client may need more time.
            let reached = (0..20).any(|_| connects(&machines.van, target));
            assert!(reached, "{rules}: {target}");
        }
        for target in refused {
            assert!(!connects(&machines.van, target), "{rules}: {target}");
        }
    }
    end(relay, Termination::Terminated);
    let _relay = machines.start_relay("--allow 203.0.113.2:22 --deny public");
    let own = (0..60).any(|_| connects(&machines.van, own[1]));
    assert!(own, "a rule names it");
    assert!(!connects(&machines.van, WEB), "public is denied");
}

#[test]
fn relay_reload_applies_target_rules() {
    let Some(machines) = machines() else { return };
    let file = machines.file("relay.toml");
    let allow = |rules: &str| std::fs::write(&file, format!("allow = [{rules}]\n")).unwrap();
    allow("\"public\"");
    let relay = machines.start_relay(&format!("--config {file}"));
    let _van = machines.start_van("");
    serve(&machines.inet, WEB);
    serve(&machines.private, "10.66.0.5:22");
    wait_until_seen_as(&machines.van, WEB, RELAY);
    let download = Download::start(&machines.van, WEB);
    let private = "10.66.0.5:22";
    assert!(!connects(&machines.van, private));
    let reload = |times: usize| {
        relay.reload();
        while relay.log().matches("reloaded: 1 clients").count() < times {
            thread::sleep(Duration::from_millis(5));
        }
    };
    allow("\"public\", \"private\"");
    reload(1);
    assert!(!relay.log().contains("takes a restart"), "{}", relay.log());
    assert!(connects(&machines.van, private));
    let established = Download::start(&machines.van, private);
    // The rules now allow less. Established connections and NAT stay.
    allow("\"203.0.113.0/24\"");
    reload(2);
    assert!(!connects(&machines.van, private) && !connects(&machines.van, WEB));
    established.wait_for_progress("a connection of a rule that is gone");
    download.wait_for_progress("a connection from before the reloads");
    allow("\"nowhere\"");
    relay.reload();
    relay.wait_for("not reloaded, nothing changes: ");
    allow("\"public\"");
    reload(3);
    wait_until_seen_as(&machines.van, WEB, RELAY);
}

fn tracked(machine: &Namespace) -> usize {
    let path = "/proc/sys/net/netfilter/nf_conntrack_count";
    machine.output_of("cat", path).trim().parse().unwrap()
}

#[test]
fn tracked_connections_of_a_client_are_limited() {
    let Some(machines) = machines() else { return };
    let other = other_client(&machines);
    let _relay = machines.start_relay("--client-connections 50");
    let _van = machines.start_van("");
    other.wait_for("the relay answers");
    serve(&machines.inet, WEB);
    wait_until_seen_as(&machines.van, WEB, RELAY);
    let download = Download::start(&machines.van, WEB);
    download.wait_for_progress("before");
    let before = tracked(&machines.relay);
    let socket = machines
        .van
        .in_thread(|| UdpSocket::bind("0.0.0.0:0").unwrap());
    for port in 10_000..10_500 {
        let _ = socket.send_to(b"x", ("9.9.9.9", port));
        let _ = socket.send_to(b"x", ("10.9.0.1", port));
        thread::sleep(Duration::from_millis(1));
    }
    while tracked(&machines.relay) < before + 40 {
        thread::sleep(Duration::from_millis(5));
    }
    assert!(!connects(&machines.van, WEB));
    download.wait_for_progress("while the client has all that it may have");
    machines
        .private
        .sh("ip route add 9.9.9.10 dev ropewalk0 src 10.9.0.3");
    assert!((0..20).any(|_| connects(&machines.private, WEB)));
    let tracked = tracked(&machines.relay);
    println!("{tracked} entries, {before} before");
    assert!(tracked <= before + 60, "{tracked}, {before} before");
}

#[test]
fn strangers_do_not_reach_clients_through_the_relay() {
    let Some(machines) = machines() else { return };
    let _relay = machines.start_relay("");
    let _van = machines.start_van("");
    serve(&machines.inet, WEB);
    wait_until_seen_as(&machines.van, WEB, RELAY);
    let _open = listen(&machines.van, "0.0.0.0:22");
    machines
        .inet
        .sh(&format!("ip route add 10.9.0.0/24 via {RELAY}"));
    assert!(!connects(&machines.inet, "10.9.0.2:22"));
    assert!(connects(&machines.relay, "10.9.0.2:22"));
}

/// The new hook reads the notes of the old one after an upgrade.
#[test]
fn purge_restores_sysctls_noted_by_an_earlier_hook() {
    let Some(machines) = machines() else { return };
    machines.relay.sh("echo 1 >/proc/sys/net/ipv4/ip_forward
         mkdir /run/ropewalk-hook
         echo 'sysctl net/ipv4/ip_forward 0' >/run/ropewalk-hook/ropewalk0");
    let forwards = || {
        machines
            .relay
            .output_of("cat", "/proc/sys/net/ipv4/ip_forward")
    };
    for (verb, expected) in [("down", "1\n"), ("up", "1\n"), ("purge", "0\n")] {
        let arguments = machines.relay_arguments(&format!("--run-hook {verb}"));
        let done = machines.relay.output(&arguments);
        assert!(done.status.success(), "{done:?}");
        assert_eq!(forwards(), expected, "{verb}");
    }
}

fn until_echoed(machine: &Namespace, port: u16) {
    let socket = machine.in_thread(move || UdpSocket::bind(("0.0.0.0", port)).unwrap());
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
fn flow_from_outside_the_tunnel_is_translated_inside() {
    let Some(machines) = machines() else { return };
    echo(&machines.inet, "9.9.9.10:7001");
    serve(&machines.inet, WEB);
    let _relay = machines.start_relay("");
    // Connection tracking has begun, and stays when a tunnel is killed.
    let mut van = machines.start_van("");
    wait_until_seen_as(&machines.lan, WEB, RELAY);
    van.kill();
    // Over a link, with the network's own source.
    let flow = machines
        .lan
        .in_thread(|| UdpSocket::bind("0.0.0.0:5555").unwrap());
    for _ in 0..3 {
        flow.send_to(b"hello", (SERVER, 7001)).unwrap();
        thread::sleep(Duration::from_millis(20));
    }
    drop(flow);
    let van = machines.start_van("");
    wait_until_seen_as(&machines.van, WEB, RELAY);
    until_echoed(&machines.lan, 5555);
    van.wait_for("192.168.50.10 refused");
}

#[test]
fn foreign_source_without_nat_gets_icmp() {
    let Some(machines) = machines() else { return };
    let _relay = machines.start_relay("");
    serve(&machines.inet, WEB);
    // A hook that only sets up routes.
    let text = "#!/bin/sh\ntest $1 != up || ip rule add pref 9 lookup 9\n\
                test $1 != up || ip route add 9.9.9.10 dev $ROPEWALK_DEVICE table 9\n";
    let path = machines.file("hook");
    std::fs::write(&path, text).unwrap();
    machines.van.sh(&format!("chmod +x {path}"));
    let arguments = machines
        .van_arguments("")
        .replace(&crate::machines::hook(), &path);
    let van = machines.van.gateway(&arguments);
    van.wait_for("the relay answers");
    let refused = (0..50).find_map(|_| {
        let error = seen_as(&machines.lan, WEB).unwrap_err();
        thread::sleep(Duration::from_millis(50));
        error.contains("No route to host").then_some(error)
    });
    println!("{refused:?}");
    assert!(refused.is_some());
    van.wait_for("192.168.50.10 refused");
}

#[test]
fn hook_removes_everything_it_set_up() {
    if let Some(requirement) = missing_requirement() {
        eprintln!("skipped: this takes {requirement}");
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let run = Command::new("unshare")
        .args(["--net", "--mount", "sh"])
        .arg(here.join("tests/links/tunnel_hook/machine.sh"))
        .env("HOOK", hook())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    assert_eq!(String::from_utf8_lossy(&run.stdout), "", "{errors}");
}
