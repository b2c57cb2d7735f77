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
use std::path::Path;
use std::time::{Duration, Instant};

use ropewalk_testbed::Testbed;

use ropewalk_over_links::{
    Endpoints, Failure, GATEWAY, KillOnDrop, LINKS, options, ready, scenario, through_socks,
};

const PORT: u16 = 7001;
/// Beginning and end of the outage, in seconds of the emulator.
const OUTAGE: [u64; 2] = [7, 10];
const UNTIL: Duration = Duration::from_secs(16);
/// Time at a link's rate that yields more bytes than handshakes.
const DELIVERY_TIME: Duration = Duration::from_millis(10);
/// Time before the end of the outage in which the rate of the other links is measured.
const REFERENCE_TIME: Duration = Duration::from_secs(2);
/// Time at the rate of the other links that exceeds the effect of their queues.
const GAIN_TIME: Duration = Duration::from_millis(20);
/// A prime, so that the data does not repeat with the length of a frame or segment.
const PERIOD: usize = 251;

fn main() -> Result<(), Failure> {
    let [gateway, links, dark, congestion, runs] = options([
        GATEWAY,
        LINKS,
        ("dark", "1"),
        ("congestion", "cubic"),
        ("runs", "5"),
    ])?;
    let gateway = Path::new(&gateway).canonicalize()?;
    let (dark, runs): (usize, u64) = (dark.parse()?, runs.parse()?);
    let extra = ["--congestion", &congestion];
    let mut found = [const { Vec::new() }; 3];
    for run in 0..runs {
        let chunks = download(&gateway, &links, dark, &extra, run)?;
        let rate = links
            .split(',')
            .nth(dark)
            .and_then(|link| link.split_once('/'));
        let rate = rate.ok_or("no such link")?.0.parse::<f64>()? * 1e6 / 8.0;
        let times = [
            longest_gap(&chunks),
            delivery_delay(&chunks, rate).unwrap_or(UNTIL),
            gain_delay(&chunks).unwrap_or(UNTIL),
        ];
        println!("{links}, {dark} down, run {run}: {}", in_words(times));
        for (all, time) in found.iter_mut().zip(times) {
            all.push(time);
        }
    }
    println!(
        "{links}, {dark} down, median: {}",
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
struct Chunk {
    /// Since the emulator's start.
    at: Duration,
    bytes: usize,
    /// Bytes received so far by the device of the link with the outage.
    link: u64,
}

fn download(
    gateway: &Path,
    links: &str,
    dark: usize,
    extra: &[&str],
    seed: u64,
) -> Result<Vec<Chunk>, Failure> {
    let scenario = scenario(links, Some((dark, OUTAGE)))?;
    let mut testbed = Testbed::build(&scenario)?;
    let epoch = Instant::now();
    let emulator = testbed.start(&scenario, seed, epoch, None)?;
    let folder = tempfile::tempdir()?;
    let ends = Endpoints::new(gateway, &testbed, folder.path())?.with(extra);
    let _relay = KillOnDrop(ends.relay()?);
    let _proxy = KillOnDrop(ends.proxy()?);
    let server = SocketAddrV4::new(ends.address, PORT);
    let sending = testbed.server.spawn(send);
    let device = testbed.plan.paths[dark].device.clone();
    let receiving = testbed
        .client
        .spawn(move || receive(server, epoch, &device));
    let chunks = receiving.join().map_err(|_| "the receiver panicked")??;
    // The sender ends when its connection is closed.
    let _ = sending.join();
    emulator.stop()?;
    Ok(chunks)
}

/// Sends until the connection is closed.
fn send() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT))?;
    let (mut stream, _): (TcpStream, _) = listener.accept()?;
    let data: Vec<u8> = (0..PERIOD as u8).cycle().take(PERIOD << 10).collect();
    while stream.write_all(&data).is_ok() {}
    Ok(())
}

fn receive(server: SocketAddrV4, epoch: Instant, device: &str) -> Result<Vec<Chunk>, Failure> {
    ready()?;
    let mut stream = through_socks(server)?;
    let (mut buffer, mut place, mut chunks) = (vec![0; 1 << 18], 0, Vec::new());
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
        chunks.push(Chunk { at, bytes, link });
    }
    Ok(chunks)
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
fn longest_gap(chunks: &[Chunk]) -> Duration {
    let after = chunks
        .windows(2)
        .filter(|pair| pair[1].at >= Duration::from_secs(OUTAGE[0]));
    after
        .map(|pair| pair[1].at - pair[0].at)
        .max()
        .unwrap_or(UNTIL)
}

/// Returns the time after its return until the link has delivered data.
fn delivery_delay(chunks: &[Chunk], rate: f64) -> Option<Duration> {
    let back = Duration::from_secs(OUTAGE[1]);
    let before = chunks.iter().take_while(|chunk| chunk.at <= back).last()?;
    let enough = before.link + (rate * DELIVERY_TIME.as_secs_f64()) as u64;
    let chunk = chunks.iter().find(|chunk| chunk.link >= enough)?;
    Some(chunk.at - back)
}

/// Returns the time after the link's return until the download exceeds the other links' rate.
fn gain_delay(chunks: &[Chunk]) -> Option<Duration> {
    let back = Duration::from_secs(OUTAGE[1]);
    let within = |from, until| {
        let some = chunks
            .iter()
            .filter(|chunk| chunk.at > from && chunk.at <= until);
        some.map(|chunk| chunk.bytes as f64).sum::<f64>()
    };
    let others = within(back - REFERENCE_TIME, back) / REFERENCE_TIME.as_secs_f64();
    let mut later = chunks.iter().filter(|chunk| chunk.at > back);
    let chunk = later.find(|chunk| {
        let passed = chunk.at - back;
        within(back, chunk.at) > others * (passed + GAIN_TIME).as_secs_f64()
    })?;
    Some(chunk.at - back)
}
