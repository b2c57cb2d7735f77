//! Delay of a thin TCP stream, through relay and proxy or through a tunnel over emulated links: 200 bytes
//! every 10 ms, alone and next to a download.
//!
//! ```text
//! cargo run --release -p ropewalk-over-links --bin thin_stream -- \
//!     gateway=target/release/ropewalk-gateway links=20/20,5/200 congestion=cubic runs=5
//! ```
//!
//! `through=tunnel` selects the tunnel: `congestion` is then the algorithm of the download instead of the carriers.
//!
//! Links are Mbit/s and milliseconds of round trip, with a queue of one bandwidth-delay product. The delay
//! from the server's write to the client's read is measured for 12 s, after 3 s, on one clock. Needs root.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_testbed::Testbed;
use socket2::SockRef;

use ropewalk_over_links::{
    Endpoints, Failure, GATEWAY, KillOnDrop, LINKS, RELAY, VAN, options, ready, scenario,
    through_socks,
};

const THIN_PORT: u16 = 7001;
const BULK_PORT: u16 = 7002;
const MESSAGE: usize = 200;
const INTERVAL: Duration = Duration::from_millis(10);
const WARMUP: Duration = Duration::from_secs(3);
const MEASURED: Duration = Duration::from_secs(12);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Through {
    Proxy,
    Tunnel,
}

impl Through {
    fn connect(self, address: SocketAddrV4) -> io::Result<TcpStream> {
        match self {
            Through::Proxy => through_socks(address),
            Through::Tunnel => TcpStream::connect(address),
        }
    }
}

struct Options {
    gateway: PathBuf,
    links: String,
    congestion: String,
    runs: u64,
    through: Through,
}

fn main() -> Result<(), Failure> {
    let [gateway, links, congestion, runs, through] = options([
        GATEWAY,
        LINKS,
        ("congestion", "cubic"),
        ("runs", "5"),
        ("through", "proxy"),
    ])?;
    let options = Options {
        gateway: Path::new(&gateway).canonicalize()?,
        links,
        congestion,
        runs: runs.parse()?,
        through: match through.as_str() {
            "proxy" => Through::Proxy,
            "tunnel" => Through::Tunnel,
            _ => return Err(format!("through={through}: allowed: proxy, tunnel").into()),
        },
    };
    let (links, congestion) = (&options.links, &options.congestion);
    for bulk in [false, true] {
        for run in 0..options.runs {
            let mut delays = measure(&options, bulk, run)?;
            delays.sort();
            let quantile = |q: f64| delays[(q * (delays.len() - 1) as f64) as usize];
            println!(
                "{links}, {congestion}, {}: {} messages, median {:.1} ms, p99 {:.1} ms, most {:.1} ms",
                if bulk { "next to a download" } else { "alone" },
                delays.len(),
                quantile(0.5).as_secs_f64() * 1e3,
                quantile(0.99).as_secs_f64() * 1e3,
                quantile(1.0).as_secs_f64() * 1e3,
            );
        }
    }
    Ok(())
}

fn measure(options: &Options, bulk: bool, seed: u64) -> Result<Vec<Duration>, Failure> {
    let scenario = scenario(&options.links, None)?;
    let mut testbed = Testbed::build(&scenario)?;
    let emulator = testbed.start(&scenario, seed, Instant::now(), None)?;
    let folder = tempfile::tempdir()?;
    let through = options.through;
    let of_carriers = ["--congestion", &options.congestion];
    let ends = Endpoints::new(&options.gateway, &testbed, folder.path())?;
    let ends = match through {
        Through::Proxy => ends.with(&of_carriers),
        Through::Tunnel => ends,
    };
    let server = match through {
        Through::Proxy => ends.address,
        Through::Tunnel => RELAY,
    };
    let _running = match through {
        Through::Proxy => [ends.relay()?, ends.proxy()?],
        Through::Tunnel => ends.tunnel([RELAY, VAN])?,
    }
    .map(KillOnDrop);
    let epoch = Instant::now();
    let sending = testbed.server.spawn(move || send_messages(epoch));
    let congestion = options.congestion.clone();
    let serving = bulk.then(|| testbed.server.spawn(move || send_bulk(&congestion)));
    match through {
        Through::Proxy => {
            let waiting = testbed.client.spawn(ready);
            waiting.join().map_err(|_| "the client panicked")??;
        }
        // Links are idle for a moment, as before the use of a tunnel.
        Through::Tunnel => thread::sleep(Duration::from_secs(2)),
    }
    let downloading = bulk.then(|| {
        testbed.client.spawn(move || -> io::Result<()> {
            let mut stream = through.connect(SocketAddrV4::new(server, BULK_PORT))?;
            let (mut buffer, end) = (vec![0; 1 << 18], Instant::now() + WARMUP + MEASURED);
            while Instant::now() < end && stream.read(&mut buffer)? > 0 {}
            Ok(())
        })
    });
    let receiving = testbed
        .client
        .spawn(move || receive_messages(through, server, epoch));
    let delays = receiving.join().map_err(|_| "the receiver panicked")??;
    // The sender ends when its connection is closed.
    let _ = sending.join();
    if let Some(downloading) = downloading {
        downloading.join().map_err(|_| "the download panicked")??;
    }
    if let Some(serving) = serving {
        let _ = serving.join();
    }
    emulator.stop()?;
    Ok(delays)
}

/// Sends messages that begin with their sending time, until the connection is closed.
fn send_messages(epoch: Instant) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, THIN_PORT))?;
    let (mut stream, _) = listener.accept()?;
    stream.set_nodelay(true)?;
    let mut due = Instant::now();
    let mut message = [0; MESSAGE];
    loop {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        due += INTERVAL;
        let sent = epoch.elapsed().as_nanos() as u64;
        message[..8].copy_from_slice(&sent.to_be_bytes());
        stream.write_all(&message)?;
    }
}

fn receive_messages(
    through: Through,
    server: Ipv4Addr,
    epoch: Instant,
) -> Result<Vec<Duration>, Failure> {
    let mut stream = through.connect(SocketAddrV4::new(server, THIN_PORT))?;
    let (start, mut message, mut delays) = (Instant::now(), [0; MESSAGE], Vec::new());
    while start.elapsed() < WARMUP + MEASURED {
        stream.read_exact(&mut message)?;
        let now = epoch.elapsed();
        let sent = u64::from_be_bytes(message[..8].try_into()?);
        if start.elapsed() >= WARMUP {
            delays.push(now.saturating_sub(Duration::from_nanos(sent)));
        }
    }
    Ok(delays)
}

/// Sends until the connection is closed.
fn send_bulk(congestion: &str) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, BULK_PORT))?;
    let (mut stream, _): (TcpStream, _) = listener.accept()?;
    SockRef::from(&stream).set_tcp_congestion(congestion.as_bytes())?;
    let data = vec![0; 1 << 18];
    while stream.write_all(&data).is_ok() {}
    Ok(())
}
