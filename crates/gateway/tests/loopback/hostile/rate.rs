//! `rate` of a client.

use std::io::Read;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_gateway::datagram;
use ropewalk_gateway::request::{Request, Target};

use super::{Carrier, connect, data, endless_source, relay, window};
use crate::gateways::until;

#[derive(Clone, Default)]
struct Arrived(Arc<AtomicU64>);

impl Arrived {
    fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts the results of this call until it fails or returns 0.
    fn count(&self, mut receive: impl FnMut(&mut [u8]) -> std::io::Result<usize> + Send + 'static) {
        let counted = self.clone();
        thread::spawn(move || {
            let mut bytes = vec![0; 64 << 10];
            while let Ok(len @ 1..) = receive(&mut bytes) {
                counted.0.fetch_add(len as u64, Ordering::Relaxed);
            }
        });
    }

    /// Asserts that at most twice this rate, and a burst, arrives within 3 s of the first bytes.
    fn assert_at_most(&self, bytes_per_s: f64, burst: u64) {
        until("the first bytes", || self.bytes() > 0);
        let (start, before) = (Instant::now(), self.bytes());
        thread::sleep(Duration::from_secs(3));
        let counted = self.bytes() - before;
        let most = (2.0 * bytes_per_s * start.elapsed().as_secs_f64()) as u64 + burst;
        assert!(counted < most, "{counted} of {most}");
    }
}

/// Reads a frame from the relay: its kind, its content after the kind, and the payload of data.
fn next_frame(from: &mut impl Read) -> Option<(u8, Vec<u8>, Vec<u8>)> {
    let mut field = |len: usize| {
        let mut bytes = vec![0; len];
        from.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    let kind = field(1)?[0];
    let head = field(match kind {
        1 => 15,
        3 => 12,
        2 | 5..=7 => 8,
        4 => 16,
        8 => 4,
        _ => 20,
    })?;
    let len = if kind == 1 { number(&head[1..3]) } else { 0 };
    let payload = field(len as usize)?;
    Some((kind, head, payload))
}

fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn flood(mut carrier: Carrier, target: SocketAddr) {
    carrier.send(&data(1, 0, &Request::Datagrams.to_bytes()));
    let mut datagrams = Vec::new();
    datagram::emit(&Target::from(target), &[0; 1000], &mut datagrams);
    // The first window is at least this long. It grows as the relay forwards bytes.
    let mut reading = carrier.0.try_clone().unwrap();
    let limit = Arc::new(AtomicU64::new(64 << 10));
    let known_limit = Arc::clone(&limit);
    thread::spawn(move || {
        while let Some((kind, head, _)) = next_frame(&mut reading) {
            if kind == 3 {
                known_limit.fetch_max(number(&head[4..]), Ordering::Relaxed);
            }
        }
    });
    thread::spawn(move || {
        let mut offset = 1;
        loop {
            if offset + datagrams.len() as u64 > limit.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            } else if !carrier.send(&data(1, offset, &datagrams)) {
                return;
            } else {
                offset += datagrams.len() as u64;
            }
        }
    });
}

#[test]
fn rate_binds_datagrams_of_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let (_gateway, at) = relay(&folder, &["--rate", "40kbit"]);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    flood(Carrier::new(at), socket.local_addr().unwrap());
    let received = Arrived::default();
    received.count(move |bytes| socket.recv(bytes));
    // The stream's first window is 64 KiB.
    received.assert_at_most(5_000.0, 4_000);
}

#[test]
fn rate_binds_datagrams_to_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let (_gateway, at) = relay(&folder, &["--rate", "800kbit"]);
    // A peer that answers one datagram with a flood.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = socket.local_addr().unwrap();
    thread::spawn(move || {
        let (_, from) = socket.recv_from(&mut [0; 2048]).unwrap();
        loop {
            let _ = socket.send_to(&[0; 1000], from);
            thread::sleep(Duration::from_micros(500));
        }
    });
    let mut carrier = Carrier::new(at);
    let mut request_bytes = Request::Datagrams.to_bytes();
    datagram::emit(&Target::from(target), b"begin", &mut request_bytes);
    carrier.send(&data(1, 0, &request_bytes));
    assert_down_rate(carrier);
}

/// The relay sends at most twice its rate of 800 kbit/s on the first stream.
fn assert_down_rate(mut carrier: Carrier) {
    carrier.send(&window(1, 1 << 40));
    let received = Arrived::default();
    received.count(move |bytes| carrier.0.read(bytes));
    received.assert_at_most(100_000.0, 20_000);
}

#[test]
fn rate_binds_a_stream_to_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let (_gateway, at) = relay(&folder, &["--rate", "800kbit"]);
    let mut carrier = Carrier::new(at);
    carrier.send(&data(1, 0, &connect(endless_source())));
    assert_down_rate(carrier);
}

#[test]
fn rate_binds_streams_of_the_client_together() {
    let folder = tempfile::tempdir().unwrap();
    let (_gateway, at) = relay(&folder, &["--rate", "800kbit"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let request = connect(listener.local_addr().unwrap());
    let received = Arrived::default();
    let counted = received.clone();
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            counted.count(move |bytes| socket.read(bytes));
        }
    });
    // Their initial windows are 3 MB together.
    let mut carrier = Carrier::new(at);
    for stream in 0..50 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
        carrier.send(&data(1 + 2 * stream, request.len() as u64, &[0; 60_000]));
    }
    received.assert_at_most(100_000.0, 20_000);
}
