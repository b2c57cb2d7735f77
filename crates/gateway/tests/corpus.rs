//! Replay of the corpora of the gateway's fuzz targets, with the expected result of each file.

#[path = "../../../tests/fuzz/properties/gateway_control.rs"]
mod gateway_control;
#[path = "../../../tests/fuzz/properties/gateway_peer.rs"]
mod gateway_peer;
#[path = "../../../tests/fuzz/properties/gateway_record.rs"]
mod gateway_record;
#[path = "../../../tests/fuzz/properties/socks5.rs"]
mod socks5;

use std::fs;
use std::path::Path;

const CONTROL: &[(&str, &str)] = &[
    (
        "connect",
        "Connect(Target { host: Name(\"a.b\"), port: 80 }, Urgency { small: 0, within: None }), 0 datagrams",
    ),
    (
        "connect_by",
        "Connect(Target { host: Name(\"a.b\"), port: 80 }, Urgency { small: 16384, within: Some(Time(200000000)) }), \
         0 datagrams",
    ),
    ("connect_cut", "a part of a request"),
    ("datagrams", "Datagrams, 1 datagrams"),
    ("empty", "nothing"),
    ("join_cut", "a message of 10 bytes"),
    (
        "join_cut_frame",
        "joins, 0 frames, then: a record that ends within a frame",
    ),
    ("join_long", "a message of 47 bytes"),
    ("join_ping", "joins, 1 frames"),
    ("join_version", "protocol version 9; supported: 1"),
    ("measure", "Measure, 0 datagrams"),
    ("measuring_short", "no datagram of a measurement"),
    (
        "no_request",
        "the first bytes of a stream are not a request",
    ),
];

const PEERS: &[(&str, &str)] = &[
    (
        "acks_too_much",
        "0 frames, then: peer acknowledged 1152921504606846976 frames, but only 0 were sent",
    ),
    ("close", "3 frames"),
    (
        "echo",
        "1 frames, then: peer acknowledged 1 frames, but only 0 were sent",
    ),
    ("empty", "0 frames"),
    (
        "far_stream",
        "0 frames, then: stream 2147483647: number far beyond the limit of open streams",
    ),
    ("gap", "3 frames"),
    ("many_streams", "30 frames"),
    (
        "moved_end",
        "1 frames, then: stream 1: peer sent data up to 4, past the end, or moved the end",
    ),
    ("ours", "2 frames"),
    ("past_window", "20 frames"),
    ("pieces", "500 frames"),
    ("ping", "50 frames"),
    ("reset", "3 frames"),
    ("reset_short", "2 frames"),
    ("stop", "3 frames"),
    ("twice", "4 frames"),
    (
        "unopened",
        "0 frames, then: stream 4: peer sent a frame, but the stream was never opened",
    ),
];

const RECORDS: &[(&str, &str)] = &[
    ("copied_and_not", "2 frames"),
    ("cut", "0 frames"),
    ("empty", "0 frames"),
    ("large_steps", "5 frames"),
    (
        "offset_too_far",
        "0 frames, then: offset 4611686018427387904; allowed: below 2^62",
    ),
    ("one_byte_steps", "3 frames"),
    (
        "payload_too_long",
        "0 frames, then: payload of 65535 bytes; allowed: at most 65472",
    ),
    ("stream_zero", "0 frames, then: frame of stream 0"),
    ("unknown_type", "1 frames, then: unknown frame type 99"),
];

const PROGRAMS: &[(&str, &str)] = &[
    ("associate", "datagrams"),
    ("bad_address", "no address"),
    ("bad_name", "no address"),
    ("bind", "command 2; allowed: CONNECT, UDP ASSOCIATE"),
    ("connect_ipv4", "connect to 10.0.0.1:80"),
    ("connect_ipv6", "connect to [2001:db8::1]:443"),
    ("connect_name", "connect to example.org:443"),
    ("cut", "early eof"),
    ("datagram", "not a request: no method"),
    ("empty", "a part of a request"),
    ("fragment", "not a request: no method"),
    ("http_connect", "connect to example.org:443, 5 bytes early"),
    ("http_cut", "a part of a request"),
    ("http_forward", "POST for Example.org:8080, 7 bytes behind"),
    ("http_get", "not a request: no host, or several"),
    ("http_ipv6", "connect to [2001:db8::1]:80, 0 bytes early"),
    ("http_longer_than_a_read", "not a request: no head of HTTP"),
    ("http_smuggled", "not a request: its length is ambiguous"),
    ("mapped", "connect to 127.0.0.1:80"),
    ("no_method", "no user and password offered"),
];

#[test]
fn gateway_control_corpus_has_listed_results() {
    replay("gateway_control", CONTROL, gateway_control::check);
}

#[test]
fn gateway_peer_corpus_has_listed_results() {
    replay("gateway_peer", PEERS, gateway_peer::check);
}

#[test]
fn gateway_record_corpus_has_listed_results() {
    replay("gateway_record", RECORDS, gateway_record::check);
}

#[test]
fn socks5_corpus_has_listed_results() {
    replay("socks5", PROGRAMS, socks5::check);
}

/// Checks that each file of the corpus is listed, and has the listed result. Files that fuzzing has found
/// (`found_...`) are not listed.
fn replay(target: &str, expected: &[(&str, &str)], hold: impl Fn(&[u8]) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus");
    let mut result: Vec<(String, String)> = fs::read_dir(folder.join(target))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, hold(&fs::read(&path).unwrap()))
        })
        .filter(|(name, _)| !name.starts_with("found_"))
        .collect();
    result.sort();
    let result: Vec<(&str, &str)> = result
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    assert_eq!(result, expected);
}
