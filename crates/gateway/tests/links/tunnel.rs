//! A tunnel whose links change their addresses, go down and up, or are absent at the start.

use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::network::{INNER, Namespace, Network, RELAY, is, with_links};

#[test]
fn link_continues_with_a_new_address() {
    let Some(network) = with_links(2) else { return };
    let [_relay, client] = network.start_tunnel();
    network.until_echo();
    network.until("both are up", "one", is("up"));
    network.until("both are up", "two", is("up"));
    network.remove_address(1, 2);
    network.add_address(1, 3);
    client.wait_for("from 10.71.1.3");
    network.until("a new address", "one", is("up"));
    // As the only link that is up, it is used.
    network.client.sh("ip link set link2 down");
    let took = network.until_echo();
    println!("through the link alone: {} ms", took.as_millis());
    // The address changes at once.
    network.client.sh(&format!(
        "ip addr del 10.71.1.3/24 dev link1; ip addr add 10.71.1.4/24 dev link1; \
         ip route replace {RELAY}/32 via 10.71.1.1 dev link1 metric 1"
    ));
    client.wait_for("from 10.71.1.4");
    let took = network.until_echo();
    println!("from another address: {} ms", took.as_millis());
}

#[test]
fn link_with_recreated_interface_comes_up() {
    let Some(network) = with_links(2) else { return };
    let [_relay, client] = network.start_tunnel();
    network.until("both are up", "one", is("up"));
    network.client.sh("ip link del link1");
    network.until("the interface is deleted", "one", is("down"));
    client.wait_for("link one: lost: link1");
    network.add_link(1);
    network.until("the interface is there again", "one", is("up"));
    client.wait_for("from 10.71.1.2");
    network.client.sh("ip link set link2 down");
    network.until_echo();
}

#[test]
fn link_that_appears_later_is_used() {
    let Some(network) = with_links(0) else { return };
    network.add_link(2);
    let [_relay, client] = network.start_tunnel();
    network.until_echo();
    network.add_link(1);
    client.wait_for("from 10.71.1.2");
    network.until("the interface is there", "one", is("up"));
}

#[test]
fn tunnel_survives_the_loss_of_all_links() {
    let Some(network) = with_links(2) else { return };
    let _ends = network.start_tunnel();
    network.until_echo();
    network.client.sh("ip link del link1; ip link del link2");
    network.until("both are deleted", "one", is("down"));
    network.until("both are deleted", "two", is("down"));
    network.add_link(2);
    let took = network.until_echo();
    println!("one is there again: {} ms", took.as_millis());
}

/// Sends datagrams of that length to an echo server, one every few milliseconds, until dropped.
struct EchoTraffic(Arc<AtomicBool>);

impl EchoTraffic {
    fn start(namespace: &Namespace, to: &'static str, len: usize) -> EchoTraffic {
        let socket = namespace.in_thread(|| UdpSocket::bind("0.0.0.0:0").unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let _ = socket.send_to(&vec![7; len], to);
                thread::sleep(Duration::from_millis(3));
            }
        });
        EchoTraffic(stop)
    }
}

impl Drop for EchoTraffic {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Clone, Copy, Debug)]
enum MtuDrop {
    /// Both interfaces have a smaller MTU.
    Interfaces,
    /// Longer packets towards that end are dropped silently.
    Towards(&'static str),
}

/// On one link of two, and on the only link.
#[test]
fn path_mtu_decrease_is_detected() {
    for (links, mtu, narrowing) in [
        (2, 1400, MtuDrop::Interfaces),
        (2, 1300, MtuDrop::Interfaces),
        (2, 1200, MtuDrop::Interfaces),
        (1, 1400, MtuDrop::Interfaces),
        (1, 1300, MtuDrop::Interfaces),
        (2, 1300, MtuDrop::Towards("relay")),
        (1, 1300, MtuDrop::Towards("relay")),
        (1, 1300, MtuDrop::Towards("client")),
    ] {
        let Some(network) = with_links(0) else { return };
        let numbers = 1..=links;
        numbers.clone().for_each(|number| network.add_link(number));
        let _relay = network.start_relay();
        let options: Vec<String> = numbers
            .map(|number| format!("--link l{number}=link{number}"))
            .collect();
        // A link without long datagrams does not notice that they no longer pass; in turn, each link has some.
        let options = options.join(" ") + " --scheduler round-robin";
        let client = network.start_client(RELAY, &options);
        client.wait_for("is up");
        network.start_echo();
        network.until_echo();
        network.until("before", "l1", |link| link["path_mtu_bytes"] == 1500);
        let _traffic = EchoTraffic::start(&network.client, INNER, 1400);
        let (client_mtu, relay_mtu) = match narrowing {
            MtuDrop::Interfaces => {
                network.relay.sh(&format!("ip link set link1 mtu {mtu}"));
                network.client.sh(&format!("ip link set link1 mtu {mtu}"));
                (mtu, mtu)
            }
            MtuDrop::Towards(end) => {
                let (end, mtus) = match end {
                    "relay" => (&network.relay, (mtu, 1500)),
                    _ => (&network.client, (1500, mtu)),
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
            let stop = [
                ("path_mtu_bytes", client_mtu),
                ("peer_path_mtu_bytes", relay_mtu),
            ];
            link["state"] == "up" && stop.into_iter().all(|(key, mtu)| found(key, mtu))
        };
        let took = network.until("after", "l1", is_found);
        println!("{links} links, {mtu} bytes, {narrowing:?}: {took:?}");
        network.until_echo();
    }
}

#[test]
fn tunnel_starts_without_links() {
    let Some(network) = with_links(0) else { return };
    let _relay = network.start_relay();
    network.start_echo();
    let client = network.start_client(RELAY, "--link one=link1 --link two=link2");
    client.wait_for("link one: not available yet: link1: No such device");
    client.wait_for("is up");
    network.add_link(2);
    let took = network.until_echo();
    println!("a link is up: {} ms", took.as_millis());
    network.until("the link", "two", is("up"));
}

fn check_status(network: &Network) -> Option<i32> {
    let control = network.file("client.sock");
    let done = network
        .client
        .output(&format!("status --check --control {control}"));
    done.status.code()
}

#[test]
fn link_states_are_listed_and_logged_before_the_first_answer() {
    let Some(network) = with_links(1) else { return };
    let client = network.start_client(RELAY, "--link one=link1 --link two=link2");
    client.wait_for("link one: dialling: the relay has not answered");
    client.wait_for("link two: down: link2: No such device");
    network.until("a row", "one", is("dialling"));
    network.until("a row", "two", |link| {
        let reason = link["reason"].as_str().unwrap_or_default();
        link["state"] == "down" && reason.starts_with("link2: No such device")
    });
    assert_eq!(network.status()["tunnels"][0]["session"], "handshaking");
    assert_eq!(check_status(&network), Some(1));
    let mut relay = network.start_relay();
    client.wait_for("session: up");
    client.wait_for("link one: up");
    network.until("the relay is there", "one", is("up"));
    let tunnel = &network.status()["tunnels"][0];
    assert!(tunnel["handshake_age_s"].as_f64().is_some(), "{tunnel}");
    assert_eq!(network.status()["refused"]["forged"], 0);
    assert_eq!(check_status(&network), Some(0));
    relay.kill();
    let _traffic = EchoTraffic::start(&network.client, INNER, 100);
    client.wait_for("link one: suspected: the relay does not answer");
    client.wait_for("session: silent");
    assert_eq!(check_status(&network), Some(1));
}

/// A name server at the relay's end of each link, with its answer; it is silent while that is `None`.
struct NameServer(Arc<Mutex<Option<Ipv4Addr>>>);

impl NameServer {
    fn start(network: &Network, answer: Option<&str>) -> NameServer {
        let socket = network
            .relay
            .in_thread(|| UdpSocket::bind("0.0.0.0:53").unwrap());
        let server = NameServer(Arc::default());
        server.set_answer(answer);
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

    fn set_answer(&self, address: Option<&str>) {
        *self.0.lock().unwrap() = address.map(|address| address.parse().unwrap());
    }
}

const NAMED: &str = "--link one=link1,dns=10.71.1.1 --link two=link2,dns=10.71.2.1";
const MOVED: &str = "10.99.0.2";

/// Adds another address of the relay, reachable over both links.
fn add_other_address(network: &Network) {
    network.relay.sh(&format!("ip addr add {MOVED}/32 dev lo"));
    for number in [1, 2] {
        network.client.sh(&format!(
            "ip route add {MOVED}/32 via 10.71.{number}.1 dev link{number} metric {number}"
        ));
    }
}

#[test]
fn moved_relay_is_found_by_its_name() {
    let Some(network) = with_links(2) else { return };
    let names = NameServer::start(&network, Some(RELAY));
    let _relay = network.start_relay();
    network.start_echo();
    let client = network.start_client("relay.test", NAMED);
    client.wait_for(&format!("the relay is at {RELAY}:4434"));
    network.until_echo();
    add_other_address(&network);
    network.relay.sh(&format!("ip addr del {RELAY}/32 dev lo"));
    names.set_answer(Some(MOVED));
    let took = network.until_echo();
    println!("after the move: {} ms", took.as_millis());
    client.wait_for(&format!("the relay is at {MOVED}:4434"));
    network.until("moved", "one", is("up"));
    network.until("moved", "two", is("up"));
    assert_eq!(client.log().matches("the relay answers").count(), 1);
}

#[test]
fn relay_name_is_resolved_again_at_a_reload() {
    let Some(network) = with_links(2) else { return };
    let names = NameServer::start(&network, Some(RELAY));
    let _relay = network.start_relay();
    network.start_echo();
    let text = "relay = \"relay.test:4434\"\nrelay-key = \"relay.pub\"\nkey = \"van.key\"\n\
         link = [\"one=link1,dns=10.71.1.1\", \"two=link2,dns=10.71.2.1\"]\n\
         address = [\"10.9.0.2/24\"]\ncontrol = \"client.sock\"\n";
    std::fs::write(network.file("client.toml"), text).unwrap();
    let client = network
        .client
        .gateway(&format!("tunnel --config {}", network.file("client.toml")));
    network.until_echo();
    add_other_address(&network);
    names.set_answer(Some(MOVED));
    client.reload();
    client.wait_for(&format!("link one: the relay is at {MOVED}:4434"));
    client.wait_for(&format!("link two: the relay is at {MOVED}:4434"));
    network.relay.sh(&format!("ip addr del {RELAY}/32 dev lo"));
    network.until_echo();
}

#[test]
fn tunnel_starts_before_the_relay_name_resolves() {
    let Some(network) = with_links(0) else { return };
    let names = NameServer::start(&network, None);
    let _relay = network.start_relay();
    network.start_echo();
    let client = network.start_client("relay.test", NAMED);
    client.wait_for("is up");
    client.wait_for("link one: the name of the relay does not resolve: ");
    network.add_link(1);
    names.set_answer(Some(RELAY));
    let took = network.until_echo();
    println!("once it resolves: {} ms", took.as_millis());
    network.until("the link", "one", is("up"));
}

#[test]
fn relay_name_is_tried_in_both_families() {
    let Some(network) = with_links(0) else { return };
    // Localhost is ::1 first on most machines, where nobody listens.
    let relay = network.relay_arguments().replace("0.0.0.0", "127.0.0.1");
    let _relay = network.client.gateway(&relay);
    let client = network.start_client("localhost", "--link one=lo");
    client.wait_for("the relay answers");
    network.until("the other family", "one", is("up"));
}

#[test]
fn reload_disconnects_removed_clients_and_changes_links() {
    let Some(network) = with_links(2) else { return };
    let relay = network.start_relay();
    network.start_echo();
    let configure = |links: &str| {
        let text = format!(
            "relay = \"{RELAY}:4434\"\nrelay-key = \"relay.pub\"\nkey = \"van.key\"\n\
             link = [{links}]\naddress = [\"10.9.0.2/24\"]\ncontrol = \"client.sock\"\n"
        );
        std::fs::write(network.file("client.toml"), text).unwrap();
    };
    configure("\"one=link1\"");
    let client = network
        .client
        .gateway(&format!("tunnel --config {}", network.file("client.toml")));
    network.until_echo();
    configure("\"one=link1\", \"two=link2\"");
    client.reload();
    client.wait_for("reloaded: links one, two");
    network.until("a link that was added", "two", is("up"));
    configure("\"two=link2\"");
    client.reload();
    client.wait_for("link one: removed");
    network.client.sh("ip link set link1 down");
    let took = network.until_echo();
    println!("by the other link: {} ms", took.as_millis());
    std::fs::write(network.file("clients"), "no key\n").unwrap();
    relay.reload();
    relay.wait_for("not reloaded, nothing changes: ");
    network.until_echo();
    // Another client, and without the first one.
    let other = std::fs::read_to_string(network.file("relay.pub")).unwrap();
    let clients = format!("{} addresses=10.9.0.3\n", other.trim());
    std::fs::write(network.file("clients"), clients).unwrap();
    relay.reload();
    relay.wait_for("van: disconnected: ");
    client.wait_for("relay: closed the tunnel");
}
