//! `client` and `relay` on six machines: all traffic of the van and of the network behind it.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::machines::{INNER, Machines, RELAY, hook, machines, seen_as, serve, wait_until_seen_as};
use crate::network::{Namespace, echo, until_answered};
use crate::process::{Gateway, until};

const WEB: &str = "9.9.9.10:7000";
const WEB_V6: &str = "[2620:fe::10]:7000";
const SSH: &str = "9.9.9.10:22";
const OUTSIDE: &str = "9.9.9.9:7000";
/// The van's address on its first link.
const LINK_ADDRESS: &str = "192.168.1.2";

fn relay_arguments(machines: &Machines, more: &str) -> String {
    format!(
        "relay --listen [::]:4433 --key {} --clients {} --allow public --address 10.9.0.1/24 \
         --address fd00:9::1/64 --device ropewalk0 --hook {} --masquerade --control {} {more}",
        machines.file("relay.key"),
        machines.file("clients"),
        hook(),
        machines.file("relay.sock"),
    )
}

fn start_relay(machines: &Machines) -> Gateway {
    let relay = machines.relay.gateway(&relay_arguments(machines, ""));
    relay.wait_for("relay listens on");
    relay
}

fn client_arguments(machines: &Machines, more: &str) -> String {
    format!(
        "client --relay {RELAY}:4433 --relay-key {} --key {} --link wifi=wlan* --link lte=wwan0 \
         --address {}/24 --address {}/64 --device ropewalk0 --hook {} --control {} {more}",
        machines.file("relay.pub"),
        machines.file("van.key"),
        INNER[0],
        INNER[1],
        hook(),
        machines.file("van.sock"),
    )
}

fn start_client(machines: &Machines, more: &str) -> Gateway {
    machines.van.gateway(&client_arguments(machines, more))
}

fn status(machines: &Machines) -> Value {
    let arguments = format!("status --json --control {}", machines.file("van.sock"));
    let done = machines.van.output(&arguments);
    serde_json::from_slice(&done.stdout).unwrap_or_default()
}

fn opened_streams(machines: &Machines) -> u64 {
    let status = status(machines);
    let count = &status["associations"][0]["opened_streams"];
    count
        .as_u64()
        .unwrap_or_else(|| panic!("no streams in {status:#}"))
}

/// Whether a connection ended at the client, as seen by its count of streams.
fn is_ended_at_client(
    machines: &Machines,
    from: &Namespace,
    server: &str,
    as_address: &str,
) -> bool {
    let before = opened_streams(machines);
    assert_eq!(
        seen_as(from, server),
        Ok(as_address.parse().unwrap()),
        "{server}"
    );
    opened_streams(machines) > before
}

#[test]
fn client_carries_all_traffic_of_machine_and_network() {
    let Some(machines) = machines() else { return };
    for at in [WEB, WEB_V6, SSH, OUTSIDE] {
        serve(&machines.inet, at);
    }
    echo(&machines.inet, "9.9.9.10:5000");
    let _relay = start_relay(&machines);
    let _client = start_client(
        &machines,
        "--as-packets port=22 --bypass to=9.9.9.9,port=7000",
    );
    for machine in [&machines.van, &machines.lan] {
        wait_until_seen_as(machine, WEB, RELAY);
        assert!(is_ended_at_client(&machines, machine, WEB, RELAY));
        assert!(!is_ended_at_client(&machines, machine, SSH, RELAY));
        until_answered(machine, "9.9.9.10:5000".parse().unwrap());
        assert!(!is_ended_at_client(
            &machines,
            machine,
            OUTSIDE,
            LINK_ADDRESS
        ));
    }
    assert!(is_ended_at_client(
        &machines,
        &machines.van,
        WEB_V6,
        "2001:db8:3::2"
    ));
    // A neighbour on a link's network that takes the van for its router.
    machines
        .inet
        .sh("ip route add 203.0.113.77/32 via 192.168.1.2");
    let before = opened_streams(&machines);
    let _ = seen_as(&machines.inet, "203.0.113.77:7000");
    assert_eq!(opened_streams(&machines), before);
    // A refused connection is reset.
    let refused: SocketAddr = "9.9.9.10:7001".parse().unwrap();
    let ends = machines.lan.in_thread(move || {
        let mut socket = TcpStream::connect_timeout(&refused, Duration::from_secs(5))?;
        socket.set_read_timeout(Some(Duration::from_secs(20)))?;
        socket.read(&mut [0])
    });
    assert_eq!(ends.unwrap_err().kind(), ErrorKind::ConnectionReset);
    let document = status(&machines);
    assert_eq!(document["role"], "client");
    assert_eq!(document["tunnels"][0]["session"], "up");
}

#[test]
fn second_relay_takes_over_until_the_first_is_back() {
    const SECOND: &str = "198.51.100.66";
    let Some(machines) = machines() else { return };
    serve(&machines.inet, WEB);
    echo(&machines.inet, "9.9.9.10:5000");
    let key = machines.file("second");
    let done = machines.van.output(&format!("keygen {key}"));
    assert!(done.status.success(), "{done:?}");
    let mut first = start_relay(&machines);
    let arguments = relay_arguments(&machines, "");
    let arguments = arguments
        .replace("relay.key", "second.key")
        .replace("relay.sock", "second.sock");
    let second = machines.attacker.gateway(&arguments);
    second.wait_for("relay listens on");
    let more = format!("--relay {SECOND}:4433 --relay-key {key}.pub");
    let _client = start_client(&machines, &more);
    wait_until_seen_as(&machines.van, WEB, RELAY);
    first.kill();
    let session = || status(&machines)["tunnels"][0]["session"].clone();
    for machine in [&machines.van, &machines.lan] {
        wait_until_seen_as(machine, WEB, SECOND);
        until_answered(machine, "9.9.9.10:5000".parse().unwrap());
    }
    until("the tunnel uses the second relay", || session() == "up");
    let _first = start_relay(&machines);
    wait_until_seen_as(&machines.van, WEB, RELAY);
    until_answered(&machines.van, "9.9.9.10:5000".parse().unwrap());
    until("the second relay is left", || {
        status(&machines)["associations"].as_array().map(Vec::len) == Some(1)
    });
}

/// Answers each web request with a redirection to a login page.
fn serve_login_page(machine: &Namespace, at: &str) {
    let at: SocketAddr = at.parse().unwrap();
    let listener = machine.in_thread(move || TcpListener::bind(at).unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let (mut stream, mut request) = (stream, [0; 1024]);
                let _ = stream.read(&mut request);
                let answer =
                    "HTTP/1.1 302 Found\r\nLocation: http://192.168.1.1:8080/login\r\n\r\n";
                let _ = stream.write_all(answer.as_bytes());
            });
        }
    });
}

#[test]
fn login_page_of_a_network_is_told_and_reachable() {
    const PAGE: &str = "http://192.168.1.1:8080/login";
    let Some(machines) = machines() else { return };
    serve_login_page(&machines.inet, "192.168.1.1:8080");
    serve(&machines.inet, WEB);
    machines.inet.sh(
        "nft -f - <<END
table ip hotel {
    chain web { type nat hook prerouting priority dstnat; iifname wifi tcp dport 80 redirect to :8080; }
    chain other { type filter hook forward priority filter; iifname wifi drop; }
}
END",
    );
    let _relay = start_relay(&machines);
    let _client = start_client(&machines, "");
    let page = || {
        let status = status(&machines);
        let links = status["associations"][0]["links"].as_array().cloned();
        let links = links.unwrap_or_default();
        let wifi = links.into_iter().find(|link| link["name"] == "wifi");
        wifi.map(|wifi| wifi["login_page"].clone())
    };
    until("the login page is told", || page() == Some(PAGE.into()));
    // The other link carries everything, and programs do not use the page's network by themselves.
    wait_until_seen_as(&machines.van, WEB, RELAY);
    assert!(seen_as(&machines.van, "192.168.1.1:8080").is_err());
    let proxy =
        "--silent --max-time 9 --proxy socks5h://127.0.0.1:4437 --write-out %{redirect_url}";
    let fetched = || machines.van.output_of("curl", &format!("{proxy} {PAGE}"));
    assert_eq!(fetched(), PAGE);
    // The user has logged in.
    machines.inet.sh("nft delete table ip hotel");
    until("no login is asked for", || page() == Some(Value::Null));
    assert_eq!(fetched(), "");
}

#[test]
fn forwarded_ports_reach_the_client_from_outside() {
    let Some(machines) = machines() else { return };
    serve(&machines.inet, WEB);
    serve(&machines.van, "0.0.0.0:8080");
    echo(&machines.van, "0.0.0.0:5000");
    let forwards = "--forward tcp:80=10.9.0.2:8080 --forward udp:5000=10.9.0.2";
    let arguments = relay_arguments(&machines, forwards);
    let relay = machines.relay.gateway(&arguments);
    relay.wait_for("relay listens on");
    let _client = start_client(&machines, "");
    wait_until_seen_as(&machines.van, WEB, RELAY);
    let outside = &machines.attacker;
    wait_until_seen_as(outside, &format!("{RELAY}:80"), "198.51.100.66");
    until_answered(outside, format!("{RELAY}:5000").parse().unwrap());
    let refused = seen_as(outside, &format!("{RELAY}:8080"));
    assert!(refused.is_err(), "{refused:?}");
    // The rules are in the hook's table, and go with it.
    let purge = format!("{arguments} --run-hook purge");
    let done = machines.relay.output(&purge);
    assert!(done.status.success(), "{done:?}");
    let tables = machines
        .relay
        .command("nft")
        .args(["list", "ruleset"])
        .output()
        .unwrap();
    assert!(
        !String::from_utf8_lossy(&tables.stdout).contains("dnat"),
        "{tables:?}"
    );
}

#[test]
fn blocked_udp_uses_tcp_until_udp_passes() {
    let Some(machines) = machines() else { return };
    echo(&machines.inet, "9.9.9.10:5000");
    machines.inet.sh(
        "nft 'add table ip block; add chain ip block passing { type filter hook forward priority 0; };
         add rule ip block passing udp dport 4433 drop'",
    );
    let _relay = start_relay(&machines);
    let _client = start_client(&machines, "");
    let state = |name: &str| {
        let document = status(&machines);
        let links = document["tunnels"][0]["links"].as_array().cloned();
        let link = links
            .into_iter()
            .flatten()
            .find(|link| link["name"] == name);
        link.map(|link| link["state"].clone()).unwrap_or_default()
    };
    for machine in [&machines.van, &machines.lan] {
        until_answered(machine, "9.9.9.10:5000".parse().unwrap());
    }
    until("only TCP passes", || {
        state("over-tcp") == "up" && state("wifi") != "up"
    });
    until_answered(&machines.van, "9.9.9.10:5000".parse().unwrap());
    machines.inet.sh("nft delete table ip block");
    until("UDP is used again", || {
        state("wifi") == "up" && state("over-tcp") == "down"
    });
    until_answered(&machines.van, "9.9.9.10:5000".parse().unwrap());
}

/// Returns the routing rules, routes and name servers of the van.
fn routing(machines: &Machines) -> String {
    let script = "ip rule; ip -6 rule; ip route show table all; ip -6 route show table all; \
                  cat /etc/resolv.conf";
    let done = machines
        .van
        .command("sh")
        .args(["-c", script])
        .output()
        .unwrap();
    // The kernel's own entries have lifetimes.
    let text = String::from_utf8_lossy(&done.stdout);
    let lines = text.lines().filter(|line| !line.contains("fe80"));
    let mut lines: Vec<&str> = lines.collect();
    lines.sort_unstable();
    lines.join("\n")
}

#[test]
fn killed_client_leaves_routes_as_before_and_resets_connections() {
    let Some(machines) = machines() else { return };
    serve(&machines.inet, WEB);
    let _relay = start_relay(&machines);
    let before = routing(&machines);
    let mut client = start_client(&machines, "--dns 9.9.9.9 --leak allow");
    wait_until_seen_as(&machines.van, WEB, RELAY);
    assert_ne!(routing(&machines), before);
    let server: SocketAddr = WEB.parse().unwrap();
    let connections = [&machines.van, &machines.lan].map(|machine| {
        let socket = machine.in_thread(move || TcpStream::connect(server).unwrap());
        socket
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        (&socket).read_exact(&mut [0]).unwrap();
        socket
    });
    client.kill();
    for mut socket in connections {
        let mut block = vec![0; 1 << 16];
        let end = loop {
            match socket.read(&mut block) {
                Ok(1..) => {}
                end => break end,
            }
        };
        let kind = end.map_err(|error| error.kind());
        assert_eq!(kind, Err(ErrorKind::ConnectionReset));
    }
    let begin = Instant::now();
    while routing(&machines) != before {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "before:\n{before}\nafter:\n{}",
            routing(&machines)
        );
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(
        seen_as(&machines.van, WEB),
        Ok(LINK_ADDRESS.parse().unwrap())
    );
}

#[test]
fn quota_counts_streams_and_packets_together() {
    let Some(machines) = machines() else { return };
    serve(&machines.inet, WEB);
    let sink = machines
        .inet
        .in_thread(|| UdpSocket::bind("9.9.9.10:5001").unwrap());
    let _relay = start_relay(&machines);
    let arguments = client_arguments(&machines, "")
        .replace("lte=wwan0", "lte=wwan0,rank=never")
        .replace("wifi=wlan*", "wifi=wlan*,quota=1GB");
    let state = machines.file("quota.json");
    let _client = machines
        .van
        .gateway(&format!("{arguments} --quota-state {state}"));
    wait_until_seen_as(&machines.van, WEB, RELAY);
    until("the tunnel is up", || {
        status(&machines)["tunnels"][0]["session"] == "up"
    });
    let used = || {
        let document = status(&machines);
        let of = |group: &str| document[group][0]["links"][0]["used_bytes"].as_u64();
        let both = of("associations").zip(of("tunnels"));
        both.unwrap_or_else(|| panic!("{document:#}"))
    };
    let before = used();
    machines.van.in_thread(|| {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        for _ in 0..500 {
            socket.send_to(&[0; 1000], "9.9.9.10:5001").unwrap();
            thread::sleep(Duration::from_millis(2));
        }
    });
    let begin = Instant::now();
    // Both halves report one count.
    while used().0.min(used().1) < before.0 + 500_000 {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "{before:?} {:?}",
            used()
        );
        thread::sleep(Duration::from_millis(100));
    }
    drop(sink);
}
