//! Real relay and proxy processes over emulated links, with outages, SIGKILL and restarts, and slow readers:
//! checks each received byte.
//!
//! ```text
//! cargo run --release -p ropewalk-over-links --bin real_faults -- \
//!     gateway=target/release/ropewalk-gateway seeds=200
//! ```
//!
//! A seed is a plan: two or three links with their outages, and four connections that carry data in both
//! directions, one with a pause in reading. In every second plan, either end is killed. Without a kill, all
//! connections must be complete. With one, a connection may end early by an error or a close, but the bytes
//! received before must be right. At the end a new connection must be complete, and no process may have
//! exceeded its memory limit. Needs root, and runs in real time.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::path::Path;
use std::process::Child;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_scenario::Scenario;
use ropewalk_testbed::Testbed;

use ropewalk_over_links::{
    Endpoints, Failure, GATEWAY, KillOnDrop, TIME_LIMIT, options, ready, through_socks,
};

const TARGET_PORT: u16 = 7000;
const CONNECTIONS: u64 = 4;
/// A server's reply if the received bytes were wrong.
const WRONG: u64 = u64::MAX;
/// Limit of a process: twice the client's memory, and the program itself.
const MEMORY_KIB: u64 = (2 * 64 + 32) << 10;

fn main() -> Result<(), Failure> {
    let [gateway, seeds, from] = options([GATEWAY, ("seeds", "200"), ("from", "1")])?;
    let gateway = Path::new(&gateway).canonicalize()?;
    let (seeds, from): (u64, u64) = (seeds.parse()?, from.parse()?);
    let next = AtomicU64::new(from);
    let total = Mutex::new(Total::default());
    thread::scope(|scope| {
        // Two plans at a time, since a plan is mostly idle.
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + seeds {
                        return;
                    }
                    let found = run(&gateway, seed);
                    total.lock().expect("no panic").add(seed, found);
                }
            });
        }
    });
    let total = total.into_inner()?;
    println!("{total:#?}");
    if total.failed > 0 {
        return Err(format!("{} of {seeds} plans failed", total.failed).into());
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Total {
    plans: u64,
    failed: u64,
    kills: u64,
    outages: u64,
    whole: u64,
    ended_early: u64,
    megabytes: u64,
    most_memory_kib: u64,
    longest: Duration,
}

impl Total {
    fn add(&mut self, seed: u64, found: Result<Found, Failure>) {
        self.plans += 1;
        match found {
            Err(error) => {
                self.failed += 1;
                println!("seed {seed}: {error}");
            }
            Ok(found) => {
                self.kills += found.kills;
                self.outages += found.outages;
                self.whole += found.whole;
                self.ended_early += found.ended_early;
                self.megabytes += found.bytes / 1_000_000;
                self.most_memory_kib = self.most_memory_kib.max(found.memory_kib);
                self.longest = self.longest.max(found.took);
            }
        }
    }
}

#[derive(Debug, Default)]
struct Found {
    kills: u64,
    outages: u64,
    whole: u64,
    ended_early: u64,
    bytes: u64,
    memory_kib: u64,
    took: Duration,
}

/// A random sequence for each seed (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        number ^ (number >> 31)
    }

    /// Draws from `least` to `most`, inclusive.
    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }
}

/// Links of a plan as a scenario, and their number of outages.
fn links(numbers: &mut Numbers) -> (String, u64) {
    let (mut text, mut outages) = ("duration = \"300 s\"\n".to_owned(), 0);
    for link in 0..numbers.between(2, 3) {
        let (rate, delay) = (numbers.between(5, 30), numbers.between(2, 60));
        text += &format!(
            "[[link]]\nname = \"l{link}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n"
        );
        let mut at = 500;
        let mut down = Vec::new();
        for _ in 0..numbers.between(0, 2) {
            let from = at + numbers.between(100, 1500);
            at = from + numbers.between(100, 2000);
            down.push(format!("[\"{from} ms\", \"{at} ms\"]"));
        }
        outages += down.len() as u64;
        if !down.is_empty() {
            text += &format!("down = [{}]\n", down.join(", "));
        }
    }
    (text + "[transport]\nprotocol = \"mptcp\"\n", outages)
}

fn run(gateway: &Path, seed: u64) -> Result<Found, Failure> {
    let start = Instant::now();
    let mut numbers = Numbers(seed);
    let (text, outages) = links(&mut numbers);
    let mut no_traces = |_: &str| Err("no traces here".to_owned());
    let scenario = Scenario::parse(&text, "plan", &[], &mut no_traces)?;
    let mut testbed = Testbed::build(&scenario)?;
    let emulator = testbed.start(&scenario, seed, Instant::now(), None)?;
    let folder = tempfile::tempdir()?;
    let ends = Endpoints::new(gateway, &testbed, folder.path())?;
    let mut relay = KillOnDrop(ends.relay()?);
    let mut proxy = KillOnDrop(ends.proxy()?);
    let over = Arc::new(AtomicBool::new(false));
    let until = over.clone();
    let serving = testbed.server.spawn(move || serve(&until));
    testbed
        .client
        .spawn(ready)
        .join()
        .map_err(|_| "the client panicked")??;

    let mut connections = Vec::new();
    for number in 0..CONNECTIONS {
        let pause = (number == 0).then(|| Duration::from_millis(numbers.between(300, 2000)));
        let connection = Connection {
            server: ends.address,
            seed: (seed << 8) | number,
            down: numbers.between(500_000, 4_000_000) / 8 * 8,
            up: numbers.between(100_000, 1_000_000) / 8 * 8,
            pause,
        };
        connections.push(testbed.client.spawn(move || connection.run()));
    }
    let kill = numbers.between(0, 1) == 1;
    if kill {
        thread::sleep(Duration::from_millis(numbers.between(200, 3000)));
        let (end, anew): (_, &dyn Fn() -> io::Result<Child>) = if numbers.between(0, 1) == 0 {
            (&mut relay, &|| ends.relay())
        } else {
            (&mut proxy, &|| ends.proxy())
        };
        end.0.kill()?;
        end.0.wait()?;
        thread::sleep(Duration::from_millis(numbers.between(0, 1000)));
        end.0 = anew()?;
    }
    let mut found = Found {
        kills: u64::from(kill),
        outages,
        ..Found::default()
    };
    for connection in connections {
        let ended = connection.join().map_err(|_| "a connection panicked")?;
        let ended = ended.map_err(|error| format!("kill {kill}: {error}"))?;
        found.bytes += ended.received;
        if ended.whole {
            found.whole += 1;
        } else if kill {
            found.ended_early += 1;
        } else {
            return Err(format!(
                "a connection ended after {} bytes, without a kill",
                ended.received
            )
            .into());
        }
    }
    let last = Connection {
        server: ends.address,
        seed: (seed << 8) | CONNECTIONS,
        down: 200_000,
        up: 80_000,
        pause: None,
    };
    let afterwards = testbed.client.spawn(move || {
        ready()?;
        last.run()
    });
    let ended = afterwards
        .join()
        .map_err(|_| "the last connection panicked")??;
    if !ended.whole {
        return Err("the connection afterwards was not whole".into());
    }
    for end in [&relay, &proxy] {
        found.memory_kib = found.memory_kib.max(most_memory(&end.0)?);
    }
    if found.memory_kib > MEMORY_KIB {
        return Err(format!("{} KiB of memory", found.memory_kib).into());
    }
    drop((relay, proxy));
    over.store(true, Ordering::Relaxed);
    let wake = || TcpStream::connect((Ipv4Addr::LOCALHOST, TARGET_PORT));
    testbed
        .server
        .spawn(wake)
        .join()
        .map_err(|_| "the server panicked")??;
    serving.join().map_err(|_| "the server panicked")??;
    emulator.stop()?;
    found.took = start.elapsed();
    if found.took > TIME_LIMIT {
        return Err(format!("it took {:?}", found.took).into());
    }
    Ok(found)
}

/// Returns the maximum memory of the process (VmHWM of proc_pid_status(5)).
fn most_memory(process: &Child) -> Result<u64, Failure> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.id()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let line = line.ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    server: Ipv4Addr,
    seed: u64,
    down: u64,
    up: u64,
    /// Pause in reading, once half has arrived.
    pause: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
struct Ended {
    received: u64,
    whole: bool,
}

impl Connection {
    /// Runs the connection; returns its result. Fails if the received bytes are wrong.
    fn run(self) -> Result<Ended, Failure> {
        let early = Ended {
            received: 0,
            whole: false,
        };
        let Ok(mut stream) = through_socks(SocketAddrV4::new(self.server, TARGET_PORT)) else {
            return Ok(early);
        };
        let mut head = Vec::new();
        for word in [self.seed, self.down, self.up] {
            head.extend_from_slice(&word.to_be_bytes());
        }
        if stream.write_all(&head).is_err() {
            return Ok(early);
        }
        let mut writer = stream.try_clone()?;
        let sending = thread::spawn(move || {
            // The reader reports errors.
            let _ = send_words(&mut writer, !self.seed, self.up);
            let _ = writer.shutdown(Shutdown::Write);
        });
        let (mut received, mut checked) = (0, OffsetWords::new(self.seed));
        let mut buffer = vec![0; 64 << 10];
        let mut pause = self.pause;
        // After the data: how many of our bytes were right.
        let mut verdict = Vec::new();
        loop {
            if received > self.down / 2
                && let Some(pause) = pause.take()
            {
                thread::sleep(pause);
            }
            let count = match stream.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(format!("nothing came for {TIME_LIMIT:?} after {received}").into());
                }
                Err(_) => 0,
            };
            if count == 0 {
                break;
            }
            let data = count.min((self.down - received) as usize);
            checked.check(&buffer[..data])?;
            received += data as u64;
            verdict.extend_from_slice(&buffer[data..count]);
        }
        sending.join().map_err(|_| "the writer panicked")?;
        let whole = received == self.down && verdict == self.up.to_be_bytes();
        if verdict.len() > 8 || verdict.len() == 8 && !whole {
            return Err(format!("the server lacks data that were sent: {verdict:?}").into());
        }
        Ok(Ended { received, whole })
    }
}

/// Bytes that encode their offset: eight of each word.
struct OffsetWords {
    seed: u64,
    at: u64,
}

impl OffsetWords {
    fn new(seed: u64) -> OffsetWords {
        OffsetWords { seed, at: 0 }
    }

    fn byte(&self, at: u64) -> u8 {
        let word = Numbers(self.seed ^ (at / 8)).next();
        word.to_be_bytes()[(at % 8) as usize]
    }

    fn check(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        for &byte in bytes {
            if byte != self.byte(self.at) {
                return Err(format!("byte {} is wrong", self.at).into());
            }
            self.at += 1;
        }
        Ok(())
    }
}

fn send_words(stream: &mut TcpStream, seed: u64, len: u64) -> io::Result<()> {
    let words = OffsetWords::new(seed);
    let mut at = 0;
    while at < len {
        let end = len.min(at + (64 << 10));
        let piece: Vec<u8> = (at..end).map(|at| words.byte(at)).collect();
        stream.write_all(&piece)?;
        at = end;
    }
    Ok(())
}

/// Sends each client its data, and then reports that it received all of the client's; until `over`, and one
/// connection more.
fn serve(over: &AtomicBool) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, TARGET_PORT))?;
    loop {
        let (stream, _) = listener.accept()?;
        if over.load(Ordering::Relaxed) {
            return Ok(());
        }
        // The client reports a broken connection.
        thread::spawn(move || answer(stream));
    }
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    let mut head = [0; 24];
    stream.read_exact(&mut head)?;
    let word = |at: usize| u64::from_be_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let (seed, down, up) = (word(0), word(8), word(16));
    let mut reader = stream.try_clone()?;
    let reading = thread::spawn(move || -> io::Result<u64> {
        let (mut words, mut buffer) = (OffsetWords::new(!seed), vec![0; 64 << 10]);
        loop {
            match reader.read(&mut buffer)? {
                0 => return Ok(words.at),
                count if words.check(&buffer[..count]).is_err() => return Ok(WRONG),
                _ => {}
            }
        }
    });
    send_words(&mut stream, seed, down)?;
    match reading.join() {
        // An early end is that of a killed process; its client sees the same.
        Ok(Ok(had)) if had == up || had == WRONG => stream.write_all(&had.to_be_bytes()),
        _ => Ok(()),
    }
}
