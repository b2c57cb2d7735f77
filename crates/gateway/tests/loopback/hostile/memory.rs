//! `memory` of a client.

use std::io::Read;
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use super::{Carrier, connect, data, endless_source, relay, reset, window};
use crate::gateways::{Gateway, TIMEOUT, until};

const MIB: u64 = 1 << 20;

/// Memory of a relay that is independent of its client: code, heap and allocator pages.
const SLACK: u64 = 24 * MIB;

fn silent_target() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        let kept: Vec<_> = listener.incoming().map_while(Result::ok).collect();
        drop(kept);
    });
    at
}

fn resident(gateway: &Gateway) -> u64 {
    gateway.memory()[0] as u64
}

/// The largest resident memory during a period, and the resident memory before.
struct Watch<'a>(&'a Gateway, u64);

impl Watch<'_> {
    fn most_during(&self, time: Duration) -> u64 {
        let start = Instant::now();
        let mut most = 0;
        while start.elapsed() < time {
            most = most.max(resident(self.0));
            thread::sleep(Duration::from_millis(20));
        }
        most.saturating_sub(self.1)
    }
}

fn assert_serves(at: SocketAddr) {
    let target = crate::gateways::echo();
    let mut other = Carrier::join(at, [9; 16], "wifi").expect("there is room");
    let mut request_bytes = connect(target);
    request_bytes.extend(b"hello");
    assert!(other.send(&data(1, 0, &request_bytes)));
    let mut received: Vec<u8> = Vec::new();
    let start = Instant::now();
    while !received.windows(5).any(|part| part == b"hello") {
        assert!(start.elapsed() < TIMEOUT, "{received:?}");
        let mut bytes = [0; 4096];
        let len = other.0.read(&mut bytes).unwrap();
        assert!(len > 0, "the relay has ended the carrier");
        received.extend(&bytes[..len]);
    }
}

#[test]
fn streams_that_the_client_does_not_read_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(endless_source());
    let mut carrier = Carrier::new(at);
    for stream in 0..800 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
        // The relay may send any amount.
        carrier.send(&window(1 + 2 * stream, u64::MAX / 2));
    }
    let most = watch.most_during(Duration::from_secs(6));
    assert!(most < 16 * MIB + SLACK, "{most}");
}

#[test]
fn streams_that_the_target_does_not_read_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(silent_target());
    let mut carrier = Carrier::new(at);
    for stream in 0..800 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
    }
    // A gap at the start: no byte can be forwarded.
    let start = request.len() as u64 + 1;
    for part in 0..15 {
        for stream in 0..800 {
            carrier.send(&data(1 + 2 * stream, start + part * 4000, &[0; 4000]));
        }
    }
    let most = watch.most_during(Duration::from_secs(4));
    assert!(most < 16 * MIB + SLACK, "{most}");
}

#[test]
fn pieces_of_one_byte_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(silent_target());
    let mut carrier = Carrier::new(at);
    for stream in 0..200 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
    }
    let start = request.len() as u64 + 1;
    for place in 0..3000 {
        let frames: Vec<Vec<u8>> = (0..200)
            .map(|stream| data(1 + 2 * stream, start + 2 * place, b"x"))
            .collect();
        if !carrier.send(&frames.concat()) {
            break;
        }
    }
    let most = watch.most_during(Duration::from_secs(3));
    assert!(most < 16 * MIB + SLACK, "{most}");
}

#[test]
fn small_parts_of_large_reads_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(silent_target());
    let mut carrier = Carrier::new(at);
    let start = request.len() as u64 + 1;
    for stream in 0..400 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
        // Copies of one part fill the relay's read buffer. The first copy stays in it.
        let part = data(1 + 2 * stream, start, &[0; 4096]);
        for _ in 0..64 {
            carrier.send(&part);
        }
    }
    let most = watch.most_during(Duration::from_secs(3));
    assert!(most < 16 * MIB + SLACK, "{most}");
    assert_serves(at);
}

#[test]
fn streams_opened_and_reset_in_a_row_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(silent_target());
    let mut carrier = Carrier::new(at);
    for burst in 0..100 {
        let frames = (0..300).map(|number| 1 + 2 * (300 * burst + number));
        let frames = frames.flat_map(|stream| {
            [
                data(stream, 0, &request),
                reset(stream, request.len() as u64),
            ]
            .concat()
        });
        if !carrier.send(&frames.collect::<Vec<u8>>()) {
            break;
        }
    }
    let most = watch.most_during(Duration::from_secs(3));
    assert!(most < 16 * MIB + SLACK, "{most}");
    assert_serves(at);
}

#[test]
fn memory_returns_once_the_client_has_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "128MiB"]);
    let idle = resident(&gateway);
    let request = connect(endless_source());
    let mut carrier = Carrier::new(at);
    for stream in 0..1200 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
    }
    until("memory is in use", || resident(&gateway) >= idle + 40 * MIB);
    // CLOSE.
    carrier.send(&[8, 0, 0, 0, 0]);
    until("memory returns", || resident(&gateway) <= idle + SLACK);
}

#[test]
fn links_of_many_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    // An eighth of it holds the read buffers of eight links.
    let (_gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let carriers: Vec<_> = (0..20)
        .map(|link| Carrier::join(at, [7; 16], &format!("link{link}")))
        .collect();
    assert_eq!(carriers.iter().filter(|joined| joined.is_ok()).count(), 8);
    // A link that has ended frees memory.
    drop(carriers);
    until("there is room for a link", || {
        Carrier::join(at, [7; 16], "another").is_ok()
    });
}
