//! A tunnel under attack.

use std::net::UdpSocket;

use ropewalk_gateway::keys::{read_public_key, read_secret_key};

use crate::adversary::{self, Client};
use crate::network::{Network, RELAY};
use crate::process::Gateway;

/// The relay of a tunnel, whose client `van` is an adversary.
fn relay(network: &Network) -> (Gateway, Client) {
    let relay = network.far.gateway(&format!(
        "tunnel --listen 0.0.0.0:4434 --key {} --clients {} --address 10.9.0.1/24 --control {}",
        network.file("relay.key"),
        network.file("clients"),
        network.file("far")
    ));
    relay.wait_for("is up");
    let secret = read_secret_key(network.file("van.key").as_ref()).unwrap();
    let key = read_public_key(network.file("relay.pub").as_ref()).unwrap();
    (relay, Client::new(secret, key, &["10.9.0.2"]))
}

fn socket(network: &Network) -> UdpSocket {
    network.near.make(|| UdpSocket::bind("0.0.0.0:0").unwrap())
}

#[test]
fn an_adversary_is_answered_as_a_client_is() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(1);
    let (_relay, client) = relay(&network);
    let relay = format!("{RELAY}:4434").parse().unwrap();
    let mut session = client.connect(socket(&network), relay);
    session.until_answered(0);
    session.until_answered(1);
}

#[test]
fn two_adversaries_agree_on_a_session() {
    let [client, relay] =
        [1, 2].map(|byte| ropewalk_gateway::keys::SecretKey::from_bytes([byte; 32]));
    let [near, far] = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    let at = far.local_addr().unwrap();
    let adversary = Client::new(client, relay.public(), &["10.9.0.2"]);
    let accepted = std::thread::spawn(move || adversary::accept(far, &relay));
    let mut session = adversary.connect(near, at);
    let accepted = accepted.join().unwrap();
    session.send(3, &[ropewalk_wire::gateway::tunnel::TunnelFrame::Ping(7)]);
    assert_eq!(accepted.receive(), Some((3, vec![3, 0, 0, 0, 7])));
}
