//! Classes of streams, as both ends show them.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::gateways::{assert_echo, connect, echo};
use crate::pair::Pair;
use crate::process::TIMEOUT;

fn classes(pair: &Pair, end: &str) -> Vec<(String, String)> {
    let status = pair.status(end);
    let streams = status["associations"][0]["streams"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut classes: Vec<_> = streams
        .iter()
        .map(|stream| (text(&stream["target"]), text(&stream["class"])))
        .collect();
    classes.sort();
    classes
}

#[test]
fn stream_has_the_class_of_its_port_at_both_ends() {
    let targets = [echo(), echo(), echo()];
    let [interactive, streaming, other] = targets;
    let pair = Pair::new(
        "--allow loopback",
        &format!(
            "--scheduler cheapest-in-time --class interactive={} --class streaming={}",
            interactive.port(),
            streaming.port()
        ),
    );
    let mut open = targets.map(|target| connect(pair.proxy_at, target).unwrap());
    open.iter_mut().for_each(assert_echo);
    let mut expected = [
        (interactive, "interactive"),
        (streaming, "streaming"),
        (other, "bulk"),
    ]
    .map(|(target, class)| (target.to_string(), class.to_owned()));
    expected.sort();
    for end in ["proxy", "relay"] {
        let begin = Instant::now();
        while classes(&pair, end) != expected {
            assert!(
                begin.elapsed() < TIMEOUT,
                "{end}: {:?}",
                classes(&pair, end)
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn star_is_the_class_of_all_other_ports() {
    let (named, other) = (echo(), echo());
    let pair = Pair::new(
        "--allow loopback",
        &format!(
            "--scheduler cheapest-in-time --class bulk={} --class streaming=*",
            named.port()
        ),
    );
    let mut open = [named, other].map(|target| connect(pair.proxy_at, target).unwrap());
    open.iter_mut().for_each(assert_echo);
    let mut expected = [(named, "bulk"), (other, "streaming")]
        .map(|(target, class)| (target.to_string(), class.to_owned()));
    expected.sort();
    assert_eq!(classes(&pair, "proxy"), expected);
}
