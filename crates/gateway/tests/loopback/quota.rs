//! Traffic of links with a quota, and of backup links.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::gateways::{
    Gateways, echo, pseudo_random, slow_source, start_proxy_with, status, until,
};

const MB: usize = 1_000_000;

fn link(gateways: &Gateways, number: usize) -> Value {
    let mut document = status(gateways.folder.path(), "van.sock");
    document["associations"][0]["links"][number].take()
}

/// Downloads 10 MB at 5 MB/s, complete; calls `disturb` after `at` bytes.
fn download(gateways: &Gateways, seed: u64, at: usize, disturb: impl FnOnce()) {
    let bytes = Arc::new(pseudo_random(10 * MB, seed));
    let mut socket = gateways.connect(slow_source(Arc::clone(&bytes))).unwrap();
    let mut got = vec![0; at];
    socket.read_exact(&mut got).unwrap();
    disturb();
    socket.read_to_end(&mut got).unwrap();
    assert!(got == *bytes);
}

#[test]
fn exhausted_quota_stops_its_link_and_survives_a_kill() {
    let options = [",quota=3MB,cost=2,at_cap=stop", ",rank=backup"];
    let mut gateways = Gateways::with_link_options(&["--allow", "loopback"], options);
    gateways.proxy.wait_for("link l2: up");
    download(&gateways, 1, MB, || ());
    gateways
        .proxy
        .wait_for("link l2: 75 % of its quota is used");
    gateways.proxy.wait_for("link l2: not used any more");
    let stopped = link(&gateways, 0);
    assert_eq!(stopped["state"], "down", "{stopped}");
    assert_eq!(stopped["quota_left_bytes"], 0, "{stopped}");
    let used = stopped["used_bytes"].as_u64().unwrap();
    assert!(used >= 3 * MB as u64, "{used}");
    assert_eq!(stopped["spent"], 2.0 * used as f64 / 1e6, "{stopped}");
    assert_eq!(stopped["quota_lasts_s"], 0.0, "{stopped}");
    assert!(link(&gateways, 1)["used_bytes"].is_null());
    // The file has the reported values.
    let file = gateways.folder.path().join("van.json");
    until("the quota file", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        text.contains(&format!("\"used\":{used}"))
    });
    gateways.proxy.kill();
    let folder = gateways.folder.path();
    gateways.proxy = start_proxy_with(folder, gateways.forwarder.address, "van", options);
    gateways.proxy_at = gateways
        .proxy
        .wait_for("proxy listens on ")
        .parse()
        .unwrap();
    gateways.proxy.wait_for("link l3: up");
    download(&gateways, 2, MB, || ());
    assert_eq!(link(&gateways, 0)["used_bytes"], used);
    assert!(!gateways.proxy.log().contains("link l2: up"));
}

#[test]
fn last_resort_is_used_while_no_other_link_is_up() {
    let options = [",quota=1MB,period=10s", ",priority=1"];
    let gateways = Gateways::with_link_options(&["--allow", "loopback"], options);
    gateways.proxy.wait_for("link l2: up");
    gateways.proxy.wait_for("link l3: up");
    download(&gateways, 3, 6 * MB, || {
        gateways.forwarder.set_blocked(1, true)
    });
    gateways
        .proxy
        .wait_for("link l2: 100 % of its quota is used");
    until("the quota is larger", || {
        link(&gateways, 0)["quota_left_bytes"].as_u64() > Some(MB as u64 / 2)
    });
}

#[test]
fn link_at_its_cap_is_throttled_in_both_directions() {
    let options = [",quota=1MB,at_cap=8mbit,period=1d", ",rank=never"];
    let gateways = Gateways::with_link_options(&["--allow", "loopback"], options);
    gateways.proxy.wait_for("link l2: up");
    download(&gateways, 7, 2 * MB, || ());
    gateways
        .proxy
        .wait_for("link l2: 100 % of its quota is used");
    assert_eq!(link(&gateways, 0)["state"], "up");
    assert_eq!(link(&gateways, 0)["throttled_mbps"], 8.0);
    // Both the proxy and the relay respect it, in both directions.
    let mut socket = gateways.connect(echo()).unwrap();
    let bytes = pseudo_random(MB, 8);
    let began = Instant::now();
    socket.write_all(&bytes).unwrap();
    let mut got = vec![0; MB];
    socket.read_exact(&mut got).unwrap();
    assert!(got == bytes);
    assert!(began.elapsed() > Duration::from_millis(900));
}

#[test]
fn backup_carries_data_only_while_the_primary_is_down() {
    let gateways = Gateways::with_link_options(&["--allow", "loopback"], ["", ",rank=backup"]);
    gateways.proxy.wait_for("link l2: up");
    download(&gateways, 4, 5 * MB, || {
        assert_eq!(gateways.forwarder.cut(1), 0, "{}", gateways.proxy.log());
        gateways.forwarder.set_blocked(0, true);
    });
    gateways.proxy.wait_for("link l3: up");
    gateways.forwarder.set_blocked(0, false);
    gateways.proxy.wait_for("link l3: left");
    until("the link is down", || link(&gateways, 1)["state"] == "down");
    let carried = link(&gateways, 1)["received_bytes"].as_u64().unwrap();
    assert!(carried > 1_000_000, "{carried}");
    download(&gateways, 5, MB, || ());
    assert_eq!(link(&gateways, 1)["received_bytes"], carried);
    assert_eq!(link(&gateways, 1)["state"], "down");
}

#[test]
fn link_of_rank_never_is_listed_but_not_dialled() {
    let gateways = Gateways::with_link_options(&["--allow", "loopback"], ["", ",rank=never"]);
    gateways.proxy.wait_for("link l2: up");
    download(&gateways, 6, MB, || assert!(gateways.forwarder.cut(0) > 0));
    assert_eq!(gateways.forwarder.cut(1), 0);
    assert_eq!(link(&gateways, 1)["state"], "down");
}
