//! A proxy whose links get other addresses, go and come back, or are none.

use crate::network::{Network, RELAY, is};
use crate::process::Gateway;

fn pair(network: &Network) -> [Gateway; 2] {
    let relay = network.far.gateway(&format!(
        "relay --listen 0.0.0.0:4433 --key {} --clients {} --allow private --control {}",
        network.file("relay.key"),
        network.file("clients"),
        network.file("far")
    ));
    relay.wait_for("relay listens on ");
    let proxy = network.near.gateway(&format!(
        "proxy --relay {RELAY}:4433 --relay-key {} --key {} --link one=link1 --link two=link2 \
         --listen 127.0.0.1:1080 --control {}",
        network.file("relay.pub"),
        network.file("van.key"),
        network.file("near")
    ));
    proxy.wait_for("proxy listens on ");
    [relay, proxy]
}

#[test]
fn carriers_come_back_with_their_links() {
    let Some(network) = Network::new() else {
        return;
    };
    network.add_link(2);
    let _ends = pair(&network);
    network.until("the link that is there", "two", is("up"));
    network.add_link(1);
    network.until("an interface that was missing", "one", is("up"));
    network.take_address(1, 2);
    network.address(1, 3);
    network.near.sh("ip link del link2");
    network.add_link(2);
    network.until("a new address", "one", is("up"));
    network.until("an interface made anew", "two", is("up"));
}
