//! Maximum throughput of the gateway, and its CPU time, for one connection over two unlimited veth devices.
//!
//! The proxy and the tunnel are compared with a TCP proxy that copies 64 KiB at a time, with plain TCP and
//! with the kernel's MPTCP.
//!
//! ```text
//! cargo run --release -p ropewalk-over-links --bin ceiling -- \
//!     gateway=target/release/ropewalk-gateway runs=5
//! ```
//!
//! The output is the median of the runs: the received Gbit/s in 5 s, and CPU seconds per gigabyte of the
//! client (or the copying proxy), the relay, both, and the whole machine with sender and receiver.
//! `only=proxy` measures only the entries of that name. `hook` is the hook of the client. Needs root.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_testbed::Namespace;
use socket2::{Domain, Protocol, Socket, Type};

use ropewalk_over_links::{
    Endpoints, Failure, GATEWAY, KillOnDrop, RELAY, VAN, options, ready, through_socks,
};

const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const PORT: u16 = 7000;
const COPIER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7001);
const MPTCP: Protocol = Protocol::MPTCP;
const CLIENT_START: Duration = Duration::from_secs(2);
const WARMUP: Duration = Duration::from_secs(1);
const MEASURED: Duration = Duration::from_secs(5);
const PLAIN: &[&str] = &["--plaintext", "--plaintext-anywhere"];

fn main() -> Result<(), Failure> {
    if std::env::args()
        .nth(1)
        .is_some_and(|argument| argument == "copy")
    {
        // Fails when the reader has gone.
        let _ = copy();
        return Ok(());
    }
    let [gateway, runs, only, hook] = options([
        GATEWAY,
        ("runs", "5"),
        ("only", ""),
        ("hook", "packaging/hooks/tunnel-hook"),
    ])?;
    let gateway = Path::new(&gateway).canonicalize()?;
    let hook = Path::new(&hook).canonicalize()?;
    let runs: usize = runs.parse()?;
    println!("{:28} {:>7} {:>31}", "", "", "CPU seconds per gigabyte");
    println!(
        "{:28} {:>7} {:>7} {:>7} {:>7} {:>7}",
        "", "Gbit/s", "client", "relay", "both", "machine"
    );
    for (name, method) in METHODS.iter().filter(|(name, _)| name.contains(&only)) {
        let mut found = Vec::new();
        for _ in 0..runs {
            found.push(measure((&gateway, &hook), *method)?);
        }
        let median = |of: fn(&Measurement) -> f64| {
            let mut values: Vec<f64> = found.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        println!(
            "{name:28} {:7.2} {:7.2} {:7.2} {:7.2} {:7.2}",
            median(|cost| cost.gbps),
            median(|cost| cost.client_gateway),
            median(|cost| cost.relay_gateway),
            median(|cost| cost.client_gateway + cost.relay_gateway),
            median(|cost| cost.machine)
        );
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Tcp,
    Mptcp,
    Copied,
    Proxy(&'static [&'static str]),
    Tunnel(&'static [&'static str]),
    Client(&'static [&'static str]),
}

const METHODS: [(&str, Method); 9] = [
    ("TCP, one device", Method::Tcp),
    ("MPTCP, both", Method::Mptcp),
    ("copying proxy, one device", Method::Copied),
    ("proxy, plain", Method::Proxy(PLAIN)),
    ("proxy, encrypted", Method::Proxy(&[])),
    ("tunnel, plain", Method::Tunnel(PLAIN)),
    ("tunnel, encrypted", Method::Tunnel(&[])),
    ("client, encrypted", Method::Client(&[])),
    (
        "client, as packets",
        Method::Client(&["--as-packets", "to=10.199.0.1"]),
    ),
];

#[derive(Clone, Copy, Debug)]
struct Measurement {
    gbps: f64,
    client_gateway: f64,
    relay_gateway: f64,
    machine: f64,
}

fn measure((gateway, hook): (&Path, &Path), method: Method) -> Result<Measurement, Failure> {
    let (client, server) = network()?;
    let folder = tempfile::tempdir()?;
    let links = vec!["c0".to_owned(), "c1".to_owned()];
    let ends = Endpoints::in_namespaces(gateway, folder.path(), [&client, &server], SERVER, links)?;
    let (relay_gateway, client_gateway) = match method {
        Method::Tcp | Method::Mptcp => (None, None),
        Method::Copied => {
            let mut copier = Command::new(std::env::current_exe()?);
            copier.arg("copy");
            (None, Some(KillOnDrop(client.run(move || copier.spawn())?)))
        }
        Method::Proxy(extra) => {
            let ends = ends.with(extra);
            let relay = KillOnDrop(ends.relay()?);
            (Some(relay), Some(KillOnDrop(ends.proxy()?)))
        }
        Method::Tunnel(extra) => {
            let ends = ends.with(extra);
            let both = ends.tunnel([RELAY, VAN])?;
            let [relay_gateway, client_gateway] = both.map(KillOnDrop);
            (Some(relay_gateway), Some(client_gateway))
        }
        Method::Client(extra) => {
            let ends = ends.with(extra);
            let both = ends.client([RELAY, VAN], hook)?;
            let [relay_gateway, client_gateway] = both.map(KillOnDrop);
            (Some(relay_gateway), Some(client_gateway))
        }
    };
    let used = || -> Result<[f64; 2], Failure> {
        Ok([of_process(&client_gateway)?, of_process(&relay_gateway)?])
    };
    let multipath = method == Method::Mptcp;
    let sending = server.spawn(move || send(multipath));
    let receiving =
        client.spawn(move || -> Result<(u64, f64), Failure> { receive(&mut connect(method)?) });
    if let Method::Client(_) = method {
        thread::sleep(CLIENT_START);
    }
    thread::sleep(WARMUP);
    let before = used()?;
    thread::sleep(MEASURED);
    let after = used()?;
    let (bytes, machine) = receiving.join().map_err(|_| "the receiver panicked")??;
    // The sender ends when the receiver has closed the connection.
    let _ = sending.join();
    drop((client_gateway, relay_gateway));
    let gigabytes = bytes as f64 / 1e9;
    Ok(Measurement {
        gbps: gigabytes * 8.0 / MEASURED.as_secs_f64(),
        client_gateway: (after[0] - before[0]) / gigabytes,
        relay_gateway: (after[1] - before[1]) / gigabytes,
        machine: machine / gigabytes,
    })
}

fn network() -> Result<(Namespace, Namespace), Failure> {
    let client = Namespace::create("client")?;
    let server = Namespace::create("server")?;
    for link in 0..2 {
        ip(
            None,
            &format!(
                "link add c{link} netns {} type veth peer name s{link} netns {}",
                client.thread_id(),
                server.thread_id()
            ),
        )?;
        ip(
            Some(&client),
            &format!("address add 10.0.{link}.1/24 dev c{link}"),
        )?;
        ip(
            Some(&server),
            &format!("address add 10.0.{link}.2/24 dev s{link}"),
        )?;
        ip(Some(&client), &format!("link set c{link} up"))?;
        ip(Some(&server), &format!("link set s{link} up"))?;
    }
    for end in [&client, &server] {
        ip(Some(end), "link set lo up")?;
        ip(Some(end), "mptcp limits set subflows 2 add_addr_accepted 2")?;
    }
    // Sockets bound to the second device need a route of their own.
    ip(Some(&client), "route add 10.0.0.2/32 dev c1 metric 100")?;
    ip(Some(&server), "mptcp endpoint add 10.0.1.2 signal")?;
    Ok((client, server))
}

fn ip(inside: Option<&Namespace>, words: &str) -> Result<(), Failure> {
    let mut command = Command::new("ip");
    command.args(words.split(' '));
    let done = match inside {
        Some(namespace) => namespace.run(move || command.output())?,
        None => command.output()?,
    };
    if !done.status.success() {
        return Err(format!("ip {words}: {}", String::from_utf8_lossy(&done.stderr)).into());
    }
    Ok(())
}

/// Connects to the server's sender as soon as it is reachable.
fn connect(method: Method) -> Result<TcpStream, Failure> {
    let once = || -> io::Result<TcpStream> {
        match method {
            Method::Tcp => TcpStream::connect((SERVER, PORT)),
            Method::Mptcp => {
                let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(MPTCP))?;
                socket.connect(&SocketAddrV4::new(SERVER, PORT).into())?;
                Ok(socket.into())
            }
            Method::Copied => TcpStream::connect(COPIER),
            Method::Proxy(_) => through_socks(SocketAddrV4::new(SERVER, PORT)),
            Method::Tunnel(_) => TcpStream::connect((RELAY, PORT)),
            Method::Client(_) => {
                let stream = TcpStream::connect((RELAY, PORT))?;
                // It ends at the client, which resets it if the server is not reached.
                stream.peek(&mut [0])?;
                Ok(stream)
            }
        }
    };
    match method {
        Method::Proxy(_) => ready()?,
        // Until a relay is reached, connections are reset.
        Method::Client(_) => thread::sleep(CLIENT_START),
        _ => {}
    }
    Ok(retry(once)?)
}

/// Calls `once` until it connects, for at most 20 s.
fn retry(once: impl Fn() -> io::Result<TcpStream>) -> io::Result<TcpStream> {
    let end = Instant::now() + Duration::from_secs(20);
    loop {
        match once() {
            Ok(stream) => return Ok(stream),
            Err(error) if Instant::now() > end => return Err(error),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
}

fn send(multipath: bool) -> io::Result<()> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, multipath.then_some(MPTCP))?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT).into())?;
    socket.listen(1)?;
    let (mut stream, _) = TcpListener::from(socket).accept()?;
    let data = vec![0; 256 << 10];
    while stream.write_all(&data).is_ok() {}
    Ok(())
}

/// Returns the bytes received in the measured time, and the machine's CPU seconds in it.
fn receive(stream: &mut TcpStream) -> Result<(u64, f64), Failure> {
    let (start, mut buffer) = (Instant::now(), vec![0; 256 << 10]);
    let (mut bytes, mut before) = (0, None);
    loop {
        let count = stream.read(&mut buffer)?;
        let passed = start.elapsed();
        if count == 0 {
            return Err("the connection ended".into());
        }
        if passed >= WARMUP {
            if before.is_none() {
                before = Some(of_machine()?);
            }
            bytes += count as u64;
        }
        if passed >= WARMUP + MEASURED {
            return Ok((bytes, of_machine()? - before.unwrap_or_default()));
        }
    }
}

/// Copies one connection to the server, 64 KiB at a time.
fn copy() -> io::Result<()> {
    let (mut incoming, _) = TcpListener::bind(COPIER)?.accept()?;
    // Its sender may start later than the copier.
    let mut outgoing = retry(|| TcpStream::connect((SERVER, PORT)))?;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let count = outgoing.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        incoming.write_all(&buffer[..count])?;
    }
}

/// A clock tick of proc_pid_stat(5), in seconds: USER_HZ is 100 everywhere.
const TICK: f64 = 0.01;

/// utime and stime, if there is such a process.
fn of_process(process: &Option<KillOnDrop>) -> Result<f64, Failure> {
    let Some(KillOnDrop(child)) = process else {
        return Ok(0.0);
    };
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let (_, fields) = stat.rsplit_once(") ").ok_or("proc_pid_stat(5)")?;
    let ticks: Result<Vec<u64>, _> = fields.split(' ').skip(11).take(2).map(str::parse).collect();
    Ok(ticks?.iter().sum::<u64>() as f64 * TICK)
}

/// The first line of proc_stat(5) without idle, iowait and steal.
fn of_machine() -> Result<f64, Failure> {
    let stat = fs::read_to_string("/proc/stat")?;
    let line = stat.lines().next().ok_or("proc_stat(5)")?;
    let fields: Result<Vec<u64>, _> = line
        .split_whitespace()
        .skip(1)
        .take(7)
        .map(str::parse)
        .collect();
    let fields = fields?;
    Ok([0, 1, 2, 5, 6].iter().map(|&at| fields[at]).sum::<u64>() as f64 * TICK)
}
