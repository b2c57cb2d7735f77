//! Traffic of links with a quota, and of backup links.

use std::io::{Read, Write};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{BINARY, World, echo, noise, start_proxy_of, steady, until};

const MB: usize = 1_000_000;

fn link(world: &World, number: usize) -> Value {
    let asked = Command::new(BINARY)
        .args(["status", "--json", "--control"])
        .arg(world.folder.path().join("van.sock"))
        .output()
        .unwrap();
    let mut document: Value = serde_json::from_slice(&asked.stdout).unwrap();
    document["associations"][0]["links"][number].take()
}

/// Downloads 10 MB at 5 MB/s, complete; calls `disturb` after `at` bytes.
fn download(world: &World, seed: u64, at: usize, disturb: impl FnOnce()) {
    let bytes = Arc::new(noise(10 * MB, seed));
    let mut socket = world.connect(steady(Arc::clone(&bytes))).unwrap();
    let mut got = vec![0; at];
    socket.read_exact(&mut got).unwrap();
    disturb();
    socket.read_to_end(&mut got).unwrap();
    assert!(got == *bytes);
}

#[test]
fn a_quota_stops_its_link_and_no_stream_and_outlives_a_kill() {
    let said = [",quota=3MB,cost=2,at_cap=stop", ",rank=backup"];
    let mut world = World::of_links(&["--allow", "loopback"], said);
    world.proxy.wait_for("link l2: up");
    download(&world, 1, MB, || ());
    world.proxy.wait_for("link l2: 75 % of its quota is used");
    world.proxy.wait_for("link l2: not used any more");
    let stopped = link(&world, 0);
    assert_eq!(stopped["state"], "down", "{stopped}");
    assert_eq!(stopped["quota_left_bytes"], 0, "{stopped}");
    let used = stopped["used_bytes"].as_u64().unwrap();
    assert!(used >= 3 * MB as u64, "{used}");
    assert_eq!(stopped["spent"], 2.0 * used as f64 / 1e6, "{stopped}");
    assert_eq!(stopped["quota_lasts_s"], 0.0, "{stopped}");
    assert!(link(&world, 1)["used_bytes"].is_null());
    // The file has the reported values.
    let file = world.folder.path().join("van.json");
    until("the quota file", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        text.contains(&format!("\"used\":{used}"))
    });
    world.proxy.kill();
    let folder = world.folder.path();
    world.proxy = start_proxy_of(folder, world.between.address, "van", said);
    world.proxy_at = world.proxy.wait_for("proxy listens on ").parse().unwrap();
    world.proxy.wait_for("link l3: up");
    download(&world, 2, MB, || ());
    assert_eq!(link(&world, 0)["used_bytes"], used);
    assert!(!world.proxy.log().contains("link l2: up"));
}

#[test]
fn a_last_resort_is_used_while_nothing_else_lives_and_a_new_period_makes_it_whole() {
    let said = [",quota=1MB,period=10s", ",priority=1"];
    let world = World::of_links(&["--allow", "loopback"], said);
    world.proxy.wait_for("link l2: up");
    world.proxy.wait_for("link l3: up");
    download(&world, 3, 6 * MB, || world.between.darken(1, true));
    world.proxy.wait_for("link l2: 100 % of its quota is used");
    until("the quota is larger", || {
        link(&world, 0)["quota_left_bytes"].as_u64() > Some(MB as u64 / 2)
    });
}

#[test]
fn at_its_cap_a_link_goes_on_at_a_rate_both_ways() {
    let said = [",quota=1MB,at_cap=8mbit,period=1d", ",rank=never"];
    let world = World::of_links(&["--allow", "loopback"], said);
    world.proxy.wait_for("link l2: up");
    download(&world, 7, 2 * MB, || ());
    world.proxy.wait_for("link l2: 100 % of its quota is used");
    assert_eq!(link(&world, 0)["state"], "up");
    assert_eq!(link(&world, 0)["throttled_mbps"], 8.0);
    // Both the proxy and the relay respect it, in both directions.
    let mut socket = world.connect(echo()).unwrap();
    let bytes = noise(MB, 8);
    let began = Instant::now();
    socket.write_all(&bytes).unwrap();
    let mut got = vec![0; MB];
    socket.read_exact(&mut got).unwrap();
    assert!(got == bytes);
    assert!(began.elapsed() > Duration::from_millis(900));
}

#[test]
fn a_backup_is_silent_until_the_primary_dies_and_when_it_is_back() {
    let world = World::of_links(&["--allow", "loopback"], ["", ",rank=backup"]);
    world.proxy.wait_for("link l2: up");
    download(&world, 4, 5 * MB, || {
        assert_eq!(world.between.cut(1), 0, "{}", world.proxy.log());
        world.between.darken(0, true);
    });
    world.proxy.wait_for("link l3: up");
    world.between.darken(0, false);
    world.proxy.wait_for("link l3: left");
    until("the link is down", || link(&world, 1)["state"] == "down");
    let carried = link(&world, 1)["received_bytes"].as_u64().unwrap();
    assert!(carried > 1_000_000, "{carried}");
    download(&world, 5, MB, || ());
    assert_eq!(link(&world, 1)["received_bytes"], carried);
    assert_eq!(link(&world, 1)["state"], "down");
}

#[test]
fn a_link_of_rank_never_is_listed_and_not_dialled() {
    let world = World::of_links(&["--allow", "loopback"], ["", ",rank=never"]);
    world.proxy.wait_for("link l2: up");
    download(&world, 6, MB, || assert!(world.between.cut(0) > 0));
    assert_eq!(world.between.cut(1), 0);
    assert_eq!(link(&world, 1)["state"], "down");
}
