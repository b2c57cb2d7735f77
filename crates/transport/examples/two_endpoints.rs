//! Two MPTCP endpoints, driven by hand: a transfer of 4 MB over two paths, one with losses.
//!
//!     cargo run -p ropewalk-transport --example two_endpoints
//!
//! An endpoint is a state machine without clock, socket or thread. Its driver, here [`Network::run`], has four
//! duties:
//!
//! 1. pass each segment that arrives, with the time (`handle_segment`);
//! 2. pass the time when a timer expires (`handle_timeout`, at the time of `poll_timeout`);
//! 3. transmit all segments that the endpoint has (`poll_transmit`);
//! 4. take its events (`poll_event`) and act on them: write, read, close.
//!
//! Segments have no payload bytes: an endpoint counts bytes, and a driver with real data finds them by their
//! offsets.

use std::collections::BTreeMap;
use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_transport::{Config, Endpoint, Event, Profile, Segment};

const DELAY: [Time; 2] = [Time::from_millis(15), Time::from_millis(40)];
/// Rate of each path in bit/s, in each direction.
const RATE: [u64; 2] = [16_000_000, 12_000_000];
const LOST: u64 = 200;
const TRANSFER: u64 = 4_000_000;

const CLIENT: usize = 0;

struct Network {
    ends: [Endpoint; 2],
    now: Time,
    /// By time of arrival and number: receiving endpoint, path, segment.
    in_flight: BTreeMap<(Time, u64), (usize, usize, Segment)>,
    /// By sending endpoint and path: when the last segment so far leaves the queue.
    busy_until: [[Time; 2]; 2],
    sent: u64,
    lost: u64,
}

impl Network {
    fn run(&mut self) {
        let mut unwritten = TRANSFER;
        self.ends[CLIENT].connect();
        while !self.ends.iter().all(Endpoint::is_closed) {
            self.application(&mut unwritten);
            self.transmit();
            let arrival = self.in_flight.first_key_value().map(|(key, _)| key.0);
            let timers = self.ends.iter().filter_map(Endpoint::poll_timeout);
            let Some(next) = timers.chain(arrival).min() else {
                return;
            };
            self.now = next;
            if arrival == Some(next) {
                if let Some((_, (end, path, segment))) = self.in_flight.pop_first() {
                    self.ends[end].handle_segment(next, path, &segment);
                }
            } else {
                for end in &mut self.ends {
                    if end.poll_timeout() == Some(next) {
                        end.handle_timeout(next);
                    }
                }
            }
        }
    }

    /// Writes as much as the client's send buffer takes, and reads all in-order data at the server.
    fn application(&mut self, unwritten: &mut u64) {
        let [client, server] = &mut self.ends;
        server.read(u64::MAX);
        while let Some(event) = client.poll_event() {
            println!("{:>9}  client: {event:?}", self.now.to_string());
        }
        while let Some(event) = server.poll_event() {
            println!("{:>9}  server: {event:?}", self.now.to_string());
            if event == Event::Eof {
                server.close();
            }
        }
        if *unwritten > 0 {
            *unwritten -= client.write(*unwritten);
            if *unwritten == 0 {
                client.close();
            }
        }
    }

    fn transmit(&mut self) {
        for (end, endpoint) in self.ends.iter_mut().enumerate() {
            let mut segment = Segment::EMPTY;
            while let Some(path) = endpoint.poll_transmit(self.now, &mut segment) {
                self.sent += 1;
                if path == 1 && self.sent.is_multiple_of(LOST) {
                    self.lost += 1;
                    continue;
                }
                let size = u64::from(20 + segment.header_len() + segment.len);
                let busy = &mut self.busy_until[end][path];
                *busy = self.now.max(*busy)
                    + Rate::from_bps(RATE[path]).transmission_time(Bytes::new(size));
                let arrival = *busy + DELAY[path];
                self.in_flight
                    .insert((arrival, self.sent), (1 - end, path, segment));
            }
        }
    }
}

fn transfer() -> Network {
    let config = Arc::new(Config::profile(Profile::Linux));
    let mut network = Network {
        ends: [
            Endpoint::client(&config, DELAY.len(), 0x0123_4567_89ab_cdef, 1),
            Endpoint::server(&config, 0xfedc_ba98_7654_3210, 2),
        ],
        now: Time::ZERO,
        in_flight: BTreeMap::new(),
        busy_until: [[Time::ZERO; 2]; 2],
        sent: 0,
        lost: 0,
    };
    network.run();
    network
}

fn main() {
    let network = transfer();
    let [client, server] = &network.ends;
    println!(
        "{} bytes delivered in {}; {} of {} segments lost",
        server.delivered(),
        network.now,
        network.lost,
        network.sent
    );
    for path in 0..DELAY.len() {
        let bytes = server.delivered_by(path);
        let retransmitted = client.counters(path).retransmissions;
        println!("path {path}: {bytes} bytes arrived, {retransmitted} segments retransmitted");
    }
}

#[test]
fn mptcp_delivers_all_bytes_despite_losses() {
    let network = transfer();
    let [client, server] = &network.ends;
    assert_eq!(server.delivered(), TRANSFER);
    assert!(client.is_closed() && server.is_closed());
    assert!(network.lost > 0);
    assert!(client.counters(1).retransmissions > 0);
    for path in 0..DELAY.len() {
        assert!(server.delivered_by(path) > TRANSFER / 10, "path {path}");
    }
    // Both paths together: 28 Mbit/s, so 1.14 s without handshakes, start-up and losses.
    assert!(network.now > Time::from_millis(1143), "{}", network.now);
    assert!(network.now < Time::from_secs(3), "{}", network.now);
}
