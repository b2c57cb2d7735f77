//! A tunnel whose links change their addresses, go down and up, or are absent at the start.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::network::{Namespace, Network, RELAY, echo, is, until_answered};
use crate::process::Gateway;

const INNER: &str = "10.9.0.1:7000";

fn tunnel(network: &Network) -> [Gateway; 2] {
    let far = network.start_far();
    let near = network.start_near(RELAY, "--link one=link1 --link two=link2");
    near.wait_for("is up");
    echo(&network.far, INNER);
    [far, near]
}

#[test]
fn a_link_with_a_new_address_goes_on() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(1);
    network.add_link(2);
    let [_far, near] = tunnel(&network);
    until_answered(&network.near, INNER.parse().unwrap());
    network.until("both are up", "one", is("up"));
    network.until("both are up", "two", is("up"));
    network.take_address(1, 2);
    network.address(1, 3);
    near.wait_for("from 10.71.1.3");
    network.until("a new address", "one", is("up"));
    // As the only link that is up, it is used.
    network.near.sh("ip link set link2 down");
    let took = until_answered(&network.near, INNER.parse().unwrap());
    println!("through the link alone: {} ms", took.as_millis());
    // The address changes at once.
    network.near.sh(&format!(
        "ip addr del 10.71.1.3/24 dev link1; ip addr add 10.71.1.4/24 dev link1; \
         ip route replace {RELAY}/32 via 10.71.1.1 dev link1 metric 1"
    ));
    near.wait_for("from 10.71.1.4");
    let took = until_answered(&network.near, INNER.parse().unwrap());
    println!("from another address: {} ms", took.as_millis());
}

#[test]
fn a_link_whose_interface_is_made_anew_comes_back() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(1);
    network.add_link(2);
    let [_far, near] = tunnel(&network);
    network.until("both are up", "one", is("up"));
    network.near.sh("ip link del link1");
    network.until("the interface is deleted", "one", is("down"));
    near.wait_for("link one: gone: link1");
    network.add_link(1);
    network.until("the interface is there again", "one", is("up"));
    near.wait_for("from 10.71.1.2");
    network.near.sh("ip link set link2 down");
    until_answered(&network.near, INNER.parse().unwrap());
}

#[test]
fn a_link_that_is_not_there_at_the_start_is_taken_when_it_comes() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(2);
    let [_far, near] = tunnel(&network);
    until_answered(&network.near, INNER.parse().unwrap());
    network.add_link(1);
    near.wait_for("from 10.71.1.2");
    network.until("the interface is there", "one", is("up"));
}

#[test]
fn all_links_go_and_come_back() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(1);
    network.add_link(2);
    let _ends = tunnel(&network);
    until_answered(&network.near, INNER.parse().unwrap());
    network.near.sh("ip link del link1; ip link del link2");
    network.until("both are deleted", "one", is("down"));
    network.until("both are deleted", "two", is("down"));
    network.add_link(2);
    let took = until_answered(&network.near, INNER.parse().unwrap());
    println!("one is there again: {} ms", took.as_millis());
}

/// Sends datagrams of that length to an echo server, one every few milliseconds, until dropped.
struct Traffic(Arc<AtomicBool>);

impl Traffic {
    fn start(namespace: &Namespace, to: &'static str, len: usize) -> Traffic {
        let socket = namespace.make(|| UdpSocket::bind("0.0.0.0:0").unwrap());
        let ends = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&ends);
        thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                let _ = socket.send_to(&vec![7; len], to);
                thread::sleep(Duration::from_millis(3));
            }
        });
        Traffic(ends)
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, Debug)]
enum Narrowing {
    /// Both interfaces have a smaller MTU.
    Interfaces,
    /// Longer packets towards that end are dropped silently.
    Towards(&'static str),
}

/// On one link of two, and on the only link.
#[test]
fn path_mtu_that_falls_is_noticed_and_the_link_goes_on() {
    for (links, mtu, narrowing) in [
        (2, 1400, Narrowing::Interfaces),
        (2, 1300, Narrowing::Interfaces),
        (2, 1200, Narrowing::Interfaces),
        (1, 1400, Narrowing::Interfaces),
        (1, 1300, Narrowing::Interfaces),
        (2, 1300, Narrowing::Towards("far")),
        (1, 1300, Narrowing::Towards("far")),
        (1, 1300, Narrowing::Towards("near")),
    ] {
        let Some(network) = Network::new() else {
            return;
        };
        let numbers = 1..=links;
        numbers.clone().for_each(|number| network.add_link(number));
        let _far = network.start_far();
        let options: Vec<String> = numbers
            .map(|number| format!("--link l{number}=link{number}"))
            .collect();
        let near = network.start_near(RELAY, &options.join(" "));
        near.wait_for("is up");
        echo(&network.far, INNER);
        until_answered(&network.near, INNER.parse().unwrap());
        network.until("before", "l1", |link| link["path_mtu_bytes"] == 1500);
        let _traffic = Traffic::start(&network.near, INNER, 1400);
        let (near_mtu, far_mtu) = match narrowing {
            Narrowing::Interfaces => {
                network.far.sh(&format!("ip link set link1 mtu {mtu}"));
                network.near.sh(&format!("ip link set link1 mtu {mtu}"));
                (mtu, mtu)
            }
            Narrowing::Towards(end) => {
                let (end, mtus) = match end {
                    "far" => (&network.far, (mtu, 1500)),
                    _ => (&network.near, (1500, mtu)),
                };
                end.sh(&format!(
                    "nft 'table inet narrow {{ chain in {{ type filter hook input priority 0; \
                     iifname link1 meta length > {mtu} drop; }}; }}'"
                ));
                mtus
            }
        };
        let is_found = |link: &Value| {
            let found = |key: &str, mtu: u64| {
                let found = link[key].as_u64().unwrap_or_default();
                (mtu - 7..=mtu).contains(&found)
            };
            let ends = [
                ("path_mtu_bytes", near_mtu),
                ("peer_path_mtu_bytes", far_mtu),
            ];
            link["state"] == "up" && ends.into_iter().all(|(key, mtu)| found(key, mtu))
        };
        let took = network.until("after", "l1", is_found);
        println!("{links} links, {mtu} bytes, {narrowing:?}: {took:?}");
        until_answered(&network.near, INNER.parse().unwrap());
    }
}

#[test]
fn tunnel_starts_without_any_link_and_takes_the_first_that_comes() {
    let Some(network) = Network::new() else {
        return;
    };
    let _far = network.start_far();
    echo(&network.far, INNER);
    let near = network.start_near(RELAY, "--link one=link1 --link two=link2");
    near.wait_for("link one: not there yet: link1: No such device");
    near.wait_for("is up");
    network.add_link(2);
    let took = until_answered(&network.near, INNER.parse().unwrap());
    println!("a link is there: {} ms", took.as_millis());
    network.until("the link", "two", is("up"));
}

fn health(network: &Network) -> Option<i32> {
    let control = network.file("near");
    let done = network
        .near
        .output(&format!("status --check --control {control}"));
    done.status.code()
}

#[test]
fn links_are_listed_before_the_relay_was_ever_reached_and_changes_are_logged() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(1);
    let near = network.start_near(RELAY, "--link one=link1 --link two=link2");
    near.wait_for("link one: dialling: the relay has not answered");
    near.wait_for("link two: down: link2: No such device");
    network.until("a row", "one", is("dialling"));
    network.until("a row", "two", |link| {
        let reason = link["reason"].as_str().unwrap_or_default();
        link["state"] == "down" && reason.starts_with("link2: No such device")
    });
    assert_eq!(network.status()["tunnels"][0]["session"], "handshaking");
    assert_eq!(health(&network), Some(1));
    let mut far = network.start_far();
    near.wait_for("session: up");
    near.wait_for("link one: up");
    network.until("the relay is there", "one", is("up"));
    let tunnel = &network.status()["tunnels"][0];
    assert!(tunnel["handshake_age_s"].as_f64().is_some(), "{tunnel}");
    assert_eq!(network.status()["refused"]["forged"], 0);
    assert_eq!(health(&network), Some(0));
    far.kill();
    let _traffic = Traffic::start(&network.near, INNER, 100);
    near.wait_for("link one: suspected: the relay does not answer");
    near.wait_for("session: silent");
    assert_eq!(health(&network), Some(1));
}

/// A name server at the relay's end of each link, with its answer; it is silent while that is `None`.
struct NameServer(Arc<Mutex<Option<Ipv4Addr>>>);

impl NameServer {
    fn start(network: &Network, answer: Option<&str>) -> NameServer {
        let socket = network.far.make(|| UdpSocket::bind("0.0.0.0:53").unwrap());
        let server = NameServer(Arc::default());
        server.tell(answer);
        let known = Arc::clone(&server.0);
        thread::spawn(move || {
            let mut buffer = [0; 512];
            while let Ok((len, from)) = socket.recv_from(&mut buffer) {
                let Some(address) = *known.lock().unwrap() else {
                    continue;
                };
                let query = &buffer[..len];
                let end = 12 + query[12..].iter().position(|&byte| byte == 0).unwrap() + 5;
                let is_a = query[end - 4..end - 2] == [0, 1];
                let mut reply = query[..2].to_vec();
                reply.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
                reply.extend(&query[12..end]);
                if is_a {
                    reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
                    reply.extend(address.octets());
                }
                let _ = socket.send_to(&reply, from);
            }
        });
        server
    }

    fn tell(&self, address: Option<&str>) {
        *self.0.lock().unwrap() = address.map(|address| address.parse().unwrap());
    }
}

const NAMED: &str = "--link one=link1,dns=10.71.1.1 --link two=link2,dns=10.71.2.1";
const MOVED: &str = "10.99.0.2";

/// Adds another address of the relay, reachable over both links.
fn add_other_address(network: &Network) {
    network.far.sh(&format!("ip addr add {MOVED}/32 dev lo"));
    for number in [1, 2] {
        network.near.sh(&format!(
            "ip route add {MOVED}/32 via 10.71.{number}.1 dev link{number} metric {number}"
        ));
    }
}

#[test]
fn relay_that_moves_is_found_by_its_name_and_the_session_goes_on() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(1);
    network.add_link(2);
    let names = NameServer::start(&network, Some(RELAY));
    let _far = network.start_far();
    echo(&network.far, INNER);
    let near = network.start_near("relay.test", NAMED);
    near.wait_for(&format!("the relay is at {RELAY}:4434"));
    until_answered(&network.near, INNER.parse().unwrap());
    add_other_address(&network);
    network.far.sh(&format!("ip addr del {RELAY}/32 dev lo"));
    names.tell(Some(MOVED));
    let took = until_answered(&network.near, INNER.parse().unwrap());
    println!("after the move: {} ms", took.as_millis());
    near.wait_for(&format!("the relay is at {MOVED}:4434"));
    network.until("moved", "one", is("up"));
    network.until("moved", "two", is("up"));
    assert_eq!(near.log().matches("the relay answers").count(), 1);
}

#[test]
fn relay_name_is_resolved_again_at_a_reload() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(1);
    network.add_link(2);
    let names = NameServer::start(&network, Some(RELAY));
    let _far = network.start_far();
    echo(&network.far, INNER);
    let text = "relay = \"relay.test:4434\"\nrelay-key = \"relay.pub\"\nkey = \"van.key\"\n\
         link = [\"one=link1,dns=10.71.1.1\", \"two=link2,dns=10.71.2.1\"]\n\
         address = [\"10.9.0.2/24\"]\ncontrol = \"near\"\n";
    std::fs::write(network.file("near.toml"), text).unwrap();
    let near = network
        .near
        .gateway(&format!("tunnel --config {}", network.file("near.toml")));
    until_answered(&network.near, INNER.parse().unwrap());
    add_other_address(&network);
    names.tell(Some(MOVED));
    near.reload();
    near.wait_for(&format!("link one: the relay is at {MOVED}:4434"));
    near.wait_for(&format!("link two: the relay is at {MOVED}:4434"));
    network.far.sh(&format!("ip addr del {RELAY}/32 dev lo"));
    until_answered(&network.near, INNER.parse().unwrap());
}

#[test]
fn tunnel_starts_before_the_relay_name_resolves() {
    let Some(network) = Network::new() else {
        return;
    };
    let names = NameServer::start(&network, None);
    let _far = network.start_far();
    echo(&network.far, INNER);
    let near = network.start_near("relay.test", NAMED);
    near.wait_for("is up");
    near.wait_for("link one: the name of the relay does not resolve: ");
    network.add_link(1);
    names.tell(Some(RELAY));
    let took = until_answered(&network.near, INNER.parse().unwrap());
    println!("once it resolves: {} ms", took.as_millis());
    network.until("the link", "one", is("up"));
}

#[test]
fn a_relay_name_is_tried_in_both_families() {
    let Some(network) = Network::new() else {
        return;
    };
    // Localhost is ::1 first on most machines, where nobody listens.
    let far = network.far_arguments().replace("0.0.0.0", "127.0.0.1");
    let _far = network.near.gateway(&far);
    let near = network.start_near("localhost", "--link one=lo");
    near.wait_for("the relay answers");
    network.until("the other family", "one", is("up"));
}

#[test]
fn what_is_read_anew_cuts_a_client_and_changes_links() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(1);
    network.add_link(2);
    let far = network.start_far();
    echo(&network.far, INNER);
    let configure = |links: &str| {
        let text = format!(
            "relay = \"{RELAY}:4434\"\nrelay-key = \"relay.pub\"\nkey = \"van.key\"\n\
             link = [{links}]\naddress = [\"10.9.0.2/24\"]\ncontrol = \"near\"\n"
        );
        std::fs::write(network.file("near.toml"), text).unwrap();
    };
    configure("\"one=link1\"");
    let near = network
        .near
        .gateway(&format!("tunnel --config {}", network.file("near.toml")));
    until_answered(&network.near, INNER.parse().unwrap());
    configure("\"one=link1\", \"two=link2\"");
    near.reload();
    near.wait_for("read anew: links one, two");
    network.until("a link that was added", "two", is("up"));
    configure("\"two=link2\"");
    near.reload();
    near.wait_for("link one: removed");
    network.near.sh("ip link set link1 down");
    let took = until_answered(&network.near, INNER.parse().unwrap());
    println!("by the other link: {} ms", took.as_millis());
    std::fs::write(network.file("clients"), "no key\n").unwrap();
    far.reload();
    far.wait_for("not read anew, all stays as it was: ");
    until_answered(&network.near, INNER.parse().unwrap());
    // Another client, and without the first one.
    let relay = std::fs::read_to_string(network.file("relay.pub")).unwrap();
    let clients = format!("{} addresses=10.9.0.3\n", relay.trim());
    std::fs::write(network.file("clients"), clients).unwrap();
    far.reload();
    far.wait_for("van: cut: ");
    near.wait_for("relay: closed the tunnel");
}
