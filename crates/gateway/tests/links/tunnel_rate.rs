//! `rate` of the list of clients, in a tunnel.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::network::{Namespace, Network, RELAY, with_links};
use crate::process::{Gateway, TIMEOUT, until};

const STREAM: &str = "10.9.0.1:7001";
/// Address at which the client receives datagrams.
const SINK: &str = "10.9.0.2:7002";

type Received = Arc<[AtomicU64; 2]>;

/// Starts a stream and a flood of datagrams to the client. Each sends as fast as it can.
fn floods(relay: &Namespace, client: &Namespace) -> Received {
    let received = Received::default();
    let listener = relay.in_thread(|| TcpListener::bind(STREAM).unwrap());
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        while stream.write_all(&[7; 16 << 10]).is_ok() {}
    });
    let at: SocketAddr = STREAM.parse().unwrap();
    let mut stream = client.in_thread(move || TcpStream::connect_timeout(&at, TIMEOUT).unwrap());
    let counted = Arc::clone(&received);
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(len @ 1..) = stream.read(&mut buffer) {
            counted[0].fetch_add(len as u64, Ordering::Relaxed);
        }
    });
    let sink = client.in_thread(|| UdpSocket::bind(SINK).unwrap());
    let counted = Arc::clone(&received);
    thread::spawn(move || {
        while let Ok(len) = sink.recv(&mut [0; 2048]) {
            counted[1].fetch_add(len as u64, Ordering::Relaxed);
        }
    });
    let source = relay.in_thread(|| UdpSocket::bind("10.9.0.1:0").unwrap());
    thread::spawn(move || {
        loop {
            let _ = source.send_to(&[7; 1000], SINK);
            thread::sleep(Duration::from_millis(1));
        }
    });
    received
}

/// Limits the client's rate, and makes the relay read its list again.
fn set_rate(network: &Network, relay: &Gateway, reloads: usize, rate: &str) {
    let path = network.file("clients");
    let list = std::fs::read_to_string(&path).unwrap();
    let line: Vec<&str> = list.split_whitespace().take(4).collect();
    std::fs::write(&path, format!("{} rate={rate}\n", line.join(" "))).unwrap();
    relay.reload();
    until("the list is read again", || {
        relay.log().matches("reloaded: 1 clients").count() >= reloads
    });
}

#[test]
fn client_rate_limits_a_stream_and_datagrams_together() {
    let Some(network) = with_links(2) else { return };
    let relay = network.start_relay();
    let _client = network.start_client(RELAY, "--link one=link1 --link two=link2");
    network.start_echo();
    network.until_echo();
    let received = floods(&network.relay, &network.client);
    let read = || [0, 1].map(|one: usize| received[one].load(Ordering::Relaxed));
    let rates = [("2mbit", 250e3), ("800kbit", 100e3), ("4mbit", 500e3)];
    for (reloads, (limit, bytes_per_s)) in rates.into_iter().enumerate() {
        set_rate(&network, &relay, 1 + reloads, limit);
        // First, queues of another rate empty. Each flow alone would use the whole rate.
        let begin = Instant::now();
        loop {
            let (before, from) = (read(), Instant::now());
            thread::sleep(Duration::from_secs(3));
            let (after, passed) = (read(), from.elapsed().as_secs_f64());
            let bytes = [0, 1].map(|one: usize| after[one] - before[one]);
            let rate = bytes.iter().sum::<u64>() as f64 / passed;
            println!("{limit}: {bytes:?}, {rate} bytes a second");
            if (bytes_per_s / 3.0..bytes_per_s * 1.2).contains(&rate) && !bytes.contains(&0) {
                break;
            }
            assert!(begin.elapsed() < TIMEOUT, "{limit}: {bytes:?} {rate}");
        }
    }
}
