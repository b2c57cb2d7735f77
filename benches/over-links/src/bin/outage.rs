//! Effect of a link's outage on a download through relay and proxy over emulated links.
//!
//! ```text
//! cargo run --release -p ropewalk-over-links --bin outage -- \
//!     gateway=target/release/ropewalk-gateway links=20/20,5/200 dark=1 runs=5
//! ```
//!
//! Links are Mbit/s and milliseconds of round trip, with a queue of one bandwidth-delay product. Link number
//! `dark` is down for 3 s. The program prints the longest time without a byte since the outage began, and two
//! times after the link's return:
//!
//! - until the link has delivered as many bytes as its rate carries in 10 ms;
//! - until the download is 20 ms ahead of the other links alone, at their rate in the last 2 s of the outage.
//!
//! It checks the content of each byte. Needs root.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ropewalk_testbed::Testbed;

use ropewalk_over_links::{Ends, Failure, Running, ready, scenario, through_socks};

const PORT: u16 = 7001;
/// Beginning and end of the outage, in seconds of the emulator.
const DARK: [u64; 2] = [7, 10];
const UNTIL: Duration = Duration::from_secs(16);
/// Time at a link's rate that yields more bytes than handshakes.
const CARRIES: Duration = Duration::from_millis(10);
/// Time before the end of the outage in which the rate of the other links is measured.
const OTHERS: Duration = Duration::from_secs(2);
/// Time at the rate of the other links that exceeds the effect of their queues.
const SURPLUS: Duration = Duration::from_millis(20);
/// A prime, so that the data does not repeat with the length of a frame or segment.
const PERIOD: usize = 251;

fn main() -> Result<(), Failure> {
    let mut gateway = PathBuf::from("target/release/ropewalk-gateway");
    let (mut links, mut dark, mut runs) = ("20/20,5/200".to_owned(), 1, 5);
    let mut congestion = "cubic".to_owned();
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            Some(("gateway", value)) => gateway = value.into(),
            Some(("links", value)) => links = value.to_owned(),
            Some(("dark", value)) => dark = value.parse()?,
            Some(("congestion", value)) => congestion = value.to_owned(),
            Some(("runs", value)) => runs = value.parse()?,
            _ => {
                let allowed = "gateway=, links=, dark=, congestion=, runs=";
                return Err(format!("{argument}: allowed: {allowed}").into());
            }
        }
    }
    let gateway = gateway.canonicalize()?;
    let extra = ["--congestion", &congestion];
    let mut found = [const { Vec::new() }; 3];
    for run in 0..runs {
        let pieces = download(&gateway, &links, dark, &extra, run)?;
        let rate = links
            .split(',')
            .nth(dark)
            .and_then(|link| link.split_once('/'));
        let rate = rate.ok_or("no such link")?.0.parse::<f64>()? * 1e6 / 8.0;
        let times = [
            longest_gap(&pieces),
            carries_again(&pieces, rate).unwrap_or(UNTIL),
            pays_again(&pieces).unwrap_or(UNTIL),
        ];
        println!("{links}, {dark} dark, run {run}: {}", in_words(times));
        for (all, time) in found.iter_mut().zip(times) {
            all.push(time);
        }
    }
    println!(
        "{links}, {dark} dark, median: {}",
        in_words(found.map(median))
    );
    Ok(())
}

fn in_words(times: [Duration; 3]) -> String {
    let [gap, carries, pays] = times.map(|time| time.as_millis());
    format!("longest gap {gap} ms, carries again after {carries} ms, more arrives after {pays} ms")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Bytes that arrived at once.
#[derive(Clone, Copy, Debug)]
struct Piece {
    /// Since the emulator's start.
    at: Duration,
    bytes: usize,
    /// Bytes received so far by the device of the link with the outage.
    link: u64,
}

fn download(
    gateway: &std::path::Path,
    links: &str,
    dark: usize,
    extra: &[&str],
    seed: u64,
) -> Result<Vec<Piece>, Failure> {
    let scenario = scenario(links, Some((dark, DARK)))?;
    let mut testbed = Testbed::build(&scenario)?;
    let epoch = Instant::now();
    let emulator = testbed.start(&scenario, seed, epoch, None)?;
    let folder = tempfile::tempdir()?;
    let ends = Ends::new(gateway, &testbed, folder.path())?.with(extra);
    let _relay = Running(ends.relay()?);
    let _proxy = Running(ends.proxy()?);
    let server = SocketAddrV4::new(ends.address, PORT);
    let sending = testbed.server.spawn(send);
    let device = testbed.plan.paths[dark].device.clone();
    let receiving = testbed
        .client
        .spawn(move || receive(server, epoch, &device));
    let pieces = receiving.join().map_err(|_| "the receiver panicked")??;
    // The sender ends when its connection is closed.
    let _ = sending.join();
    emulator.stop()?;
    Ok(pieces)
}

/// Sends until the connection is closed.
fn send() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT))?;
    let (mut stream, _): (TcpStream, _) = listener.accept()?;
    let data: Vec<u8> = (0..PERIOD as u8).cycle().take(PERIOD << 10).collect();
    while stream.write_all(&data).is_ok() {}
    Ok(())
}

fn receive(server: SocketAddrV4, epoch: Instant, device: &str) -> Result<Vec<Piece>, Failure> {
    ready()?;
    let mut stream = through_socks(server)?;
    let (mut buffer, mut place, mut pieces) = (vec![0; 1 << 18], 0, Vec::new());
    while epoch.elapsed() < UNTIL {
        let bytes = stream.read(&mut buffer)?;
        let at = epoch.elapsed();
        if bytes == 0 {
            return Err("the download ended".into());
        }
        for byte in &buffer[..bytes] {
            if usize::from(*byte) != place % PERIOD {
                return Err(format!("byte {place} is another").into());
            }
            place += 1;
        }
        let link = received_by(device)?;
        pieces.push(Piece { at, bytes, link });
    }
    Ok(pieces)
}

/// Returns the bytes that a device of this thread's namespace has received (proc_net(5)).
fn received_by(device: &str) -> Result<u64, Failure> {
    let text = fs::read_to_string("/proc/thread-self/net/dev")?;
    let mut lines = text.lines().filter_map(|line| line.trim().split_once(':'));
    let (_, counters) = lines
        .find(|(name, _)| *name == device)
        .ok_or("no such device")?;
    Ok(counters
        .split_whitespace()
        .next()
        .ok_or("proc_net(5)")?
        .parse()?)
}

/// Returns the longest time without a byte since the outage began.
fn longest_gap(pieces: &[Piece]) -> Duration {
    let after = pieces
        .windows(2)
        .filter(|pair| pair[1].at >= Duration::from_secs(DARK[0]));
    after
        .map(|pair| pair[1].at - pair[0].at)
        .max()
        .unwrap_or(UNTIL)
}

/// Returns the time after its return until the link has delivered data.
fn carries_again(pieces: &[Piece], rate: f64) -> Option<Duration> {
    let back = Duration::from_secs(DARK[1]);
    let before = pieces.iter().take_while(|piece| piece.at <= back).last()?;
    let enough = before.link + (rate * CARRIES.as_secs_f64()) as u64;
    let piece = pieces.iter().find(|piece| piece.link >= enough)?;
    Some(piece.at - back)
}

/// Returns the time after the link's return until the download exceeds the other links' rate.
fn pays_again(pieces: &[Piece]) -> Option<Duration> {
    let back = Duration::from_secs(DARK[1]);
    let within = |from, until| {
        let some = pieces
            .iter()
            .filter(|piece| piece.at > from && piece.at <= until);
        some.map(|piece| piece.bytes as f64).sum::<f64>()
    };
    let others = within(back - OTHERS, back) / OTHERS.as_secs_f64();
    let mut later = pieces.iter().filter(|piece| piece.at > back);
    let piece = later.find(|piece| {
        let passed = piece.at - back;
        within(back, piece.at) > others * (passed + SURPLUS).as_secs_f64()
    })?;
    Some(piece.at - back)
}
