//! Default files and routes of a tunnel: the file of its quotas, and traffic that a route into its device
//! does not affect.

use std::time::{Duration, Instant};

use crate::network::{Network, RELAY, is, with_links};
use crate::process::{BINARY, Gateway, TIMEOUT};

/// Both ends of a tunnel; the client with more words, and a folder for its state.
fn tunnel(network: &Network, words: &str) -> [Gateway; 2] {
    let relay = network.start_relay();
    let words = network.client_arguments(RELAY, words);
    let mut command = network.client.command(BINARY);
    command.args(words.split_whitespace());
    command.env("XDG_STATE_HOME", network.file("state"));
    command.env_remove("STATE_DIRECTORY");
    let client = Gateway::run(&mut command);
    client.wait_for("is up");
    network.start_echo();
    [relay, client]
}

#[test]
fn tunnel_stores_quotas_in_the_state_folder() {
    let Some(network) = with_links(1) else { return };
    let [_relay, client] = tunnel(&network, "--link one=link1,quota=1GB");
    network.until_echo();
    network.until("the link is up", "one", is("up"));
    let file = network.file("state/ropewalk/tunnel-quota.json");
    let begin = Instant::now();
    let is_counted = |text: String| text.contains("\"one\"") && !text.contains("\"used\":0,");
    while !std::fs::read_to_string(&file).is_ok_and(is_counted) {
        assert!(begin.elapsed() < TIMEOUT, "{}", client.log());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(client.terminate().code(), Some(0));
}

#[test]
fn link_given_as_interface_is_not_routed_into_the_device() {
    let Some(network) = with_links(1) else { return };
    let words = format!("--link one=link1 --route {RELAY}/32");
    let _ends = tunnel(&network, &words);
    network.until("the link is up", "one", is("up"));
    // Packets of other sockets to the relay use the tunnel.
    let route = network
        .client
        .command("ip")
        .args(["route", "get", RELAY])
        .output();
    let route = String::from_utf8(route.unwrap().stdout).unwrap();
    assert!(route.contains("dev ropewalk0"), "{route}");
    network.until_echo();
    std::thread::sleep(Duration::from_secs(3));
    network.until_echo();
    network.until("the link is still up", "one", is("up"));
}
