//! Goodput of one TCP connection through a tunnel over emulated links, relative to the sum of raw rates.
//!
//! ```text
//! cargo build --release -p ropewalk-gateway
//! cargo run --release -p ropewalk-over-links --bin tunnel_goodput -- \
//!     gateway=target/release/ropewalk-gateway links=20/20,5/200 congestion=cubic runs=5
//! ```
//!
//! Links are Mbit/s and milliseconds of round trip, with a queue of one bandwidth-delay product. Measurements
//! start after 3 s and last 12 s. `dark=0` takes the first link down for good in the middle of it; then the
//! longest time without a byte is the main result. Needs root.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_testbed::Testbed;
use socket2::SockRef;

use ropewalk_over_links::{
    Endpoints, Failure, GATEWAY, KillOnDrop, LINKS, RELAY, VAN, options, scenario,
};

const PORT: u16 = 5001;
const WARMUP: Duration = Duration::from_secs(3);
const MEASURED: Duration = Duration::from_secs(12);

fn main() -> Result<(), Failure> {
    let [gateway, links, congestion, runs, dark, extra] = options([
        GATEWAY,
        LINKS,
        ("congestion", "cubic"),
        ("runs", "5"),
        ("dark", ""),
        ("extra", ""),
    ])?;
    let dark = Some(dark).filter(|dark| !dark.is_empty());
    let options = Options {
        gateway: gateway.into(),
        links,
        congestion,
        runs: runs.parse()?,
        dark: dark.map(|dark| dark.parse()).transpose()?,
        extra: extra.split_whitespace().map(str::to_owned).collect(),
    };
    let mut shares = Vec::new();
    for run in 0..options.runs {
        let (share, gap) = measure(&options, run)?;
        println!(
            "{} {} run {run}: {share:.3}, longest gap {:.0} ms",
            options.links,
            options.congestion,
            gap.as_secs_f64() * 1e3
        );
        shares.push(share);
    }
    shares.sort_by(f64::total_cmp);
    println!(
        "{} {} median: {:.3}",
        options.links,
        options.congestion,
        shares[shares.len() / 2]
    );
    Ok(())
}

struct Options {
    gateway: PathBuf,
    links: String,
    congestion: String,
    runs: u64,
    dark: Option<usize>,
    extra: Vec<String>,
}

impl Options {
    /// Sum of the links' rates, in Mbit/s.
    fn sum(&self) -> Result<f64, Failure> {
        let rates = self.links.split(',').map(|link| {
            let (rate, _) = link.split_once('/').ok_or("a link is RATE/ROUND-TRIP")?;
            Ok(rate.parse::<f64>()?)
        });
        rates.sum()
    }
}

fn measure(options: &Options, seed: u64) -> Result<(f64, Duration), Failure> {
    let scenario = scenario(&options.links, options.dark.map(|link| (link, [10, 60])))?;
    let mut testbed = Testbed::build(&scenario)?;
    let emulator = testbed.start(&scenario, seed, Instant::now(), None)?;
    let folder = tempfile::tempdir()?;
    let extra: Vec<&str> = options.extra.iter().map(String::as_str).collect();
    let ends = Endpoints::new(&options.gateway, &testbed, folder.path())?.with(&extra);
    let ends = ends.tunnel([RELAY, VAN])?.map(KillOnDrop);
    // Links are idle for a moment, as before the use of a tunnel.
    thread::sleep(Duration::from_secs(2));
    let congestion = options.congestion.clone();
    let received = testbed.server.spawn(receive);
    let sent = testbed.client.spawn(move || send(&congestion));
    let (received, gap) = received.join().map_err(|_| "the receiver panicked")??;
    sent.join().map_err(|_| "the sender panicked")??;
    drop(ends);
    emulator.stop()?;
    let share = received as f64 * 8.0 / MEASURED.as_secs_f64() / (options.sum()? * 1e6);
    Ok((share, gap))
}

/// Returns the bytes received in the measured time, and the longest time without one.
fn receive() -> Result<(u64, Duration), Failure> {
    let listener = TcpListener::bind((RELAY, PORT))?;
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut buffer = vec![0; 1 << 18];
    let start = Instant::now();
    let (mut measured, mut last, mut longest) = (0, Instant::now(), Duration::ZERO);
    loop {
        let count = stream.read(&mut buffer)?;
        let passed = start.elapsed();
        if count == 0 || passed >= WARMUP + MEASURED {
            return Ok((measured, longest));
        }
        if passed >= WARMUP {
            measured += count as u64;
            longest = longest.max(last.elapsed());
        }
        last = Instant::now();
    }
}

fn send(congestion: &str) -> Result<(), Failure> {
    let mut tries = 0;
    let mut stream = loop {
        match TcpStream::connect((RELAY, PORT)) {
            Ok(stream) => break stream,
            Err(_) if tries < 50 => tries += 1,
            Err(error) => return Err(error.into()),
        }
        thread::sleep(Duration::from_millis(100));
    };
    SockRef::from(&stream).set_tcp_congestion(congestion.as_bytes())?;
    let data = vec![0; 1 << 18];
    // Fails when the receiver has finished.
    while stream.write_all(&data).is_ok() {}
    Ok(())
}
