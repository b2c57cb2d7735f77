//! A relay and a proxy as processes on loopback, with a forwarder between them that can cut links.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

pub use crate::process::{BINARY, Gateway, TIMEOUT, until};

/// One-way delay. A round trip of more than 0.25 s makes the proxy dial a link again.
const ONE_WAY_DELAY: Duration = Duration::from_millis(200);

pub const LINKS: [Ipv4Addr; 2] = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)];

/// A relay, a proxy with two links, and the forwarder between them.
pub struct Gateways {
    pub folder: TempDir,
    pub relay: Gateway,
    pub relay_at: SocketAddr,
    pub forwarder: Forwarder,
    pub proxy: Gateway,
    pub proxy_at: SocketAddr,
}

impl Gateways {
    pub fn new(relay_options: &[&str]) -> Gateways {
        Gateways::with_link_options(relay_options, ["", ""])
    }

    /// Adds `options` to each link's description.
    pub fn with_link_options(relay_options: &[&str], options: [&str; 2]) -> Gateways {
        let folder = tempfile::tempdir().unwrap();
        keygen(folder.path(), &["relay", "van"]);
        // At an address of its own: no other connection takes its port while it is down.
        let relay = start_relay(folder.path(), "127.0.0.2:0", relay_options);
        let relay_at = relay.wait_for("relay listens on ").parse().unwrap();
        let forwarder = Forwarder::new(relay_at);
        let proxy = start_proxy_with(folder.path(), forwarder.address, "van", options);
        let proxy_at = proxy.wait_for("proxy listens on ").parse().unwrap();
        Gateways {
            folder,
            relay,
            relay_at,
            forwarder,
            proxy,
            proxy_at,
        }
    }

    /// Connects to the target through the proxy; an error is SOCKS's code.
    pub fn connect(&self, target: SocketAddr) -> Result<TcpStream, u8> {
        let mut socket = with_timeouts(TcpStream::connect(self.proxy_at).unwrap());
        let IpAddr::V4(ip) = target.ip() else {
            panic!("{target}")
        };
        let mut request = b"\x05\x01\x00\x05\x01\x00\x01".to_vec();
        request.extend(ip.octets());
        request.extend(target.port().to_be_bytes());
        socket.write_all(&request).unwrap();
        let mut reply = [0; 12];
        socket.read_exact(&mut reply).unwrap();
        match reply[3] {
            0 => Ok(socket),
            code => Err(code),
        }
    }
}

/// Writes the keys of these names.
pub fn keygen(folder: &Path, names: &[&str]) {
    for name in names {
        let path = folder.join(name);
        let made = Command::new(BINARY).arg("keygen").arg(path).output();
        assert!(made.unwrap().status.success());
    }
}

/// Returns the status of the gateway with this control socket in a folder.
pub fn status(folder: &Path, socket: &str) -> Value {
    let mut command = Command::new(BINARY);
    command.args(["status", "--json", "--control"]);
    let done = command.arg(folder.join(socket)).output().unwrap();
    serde_json::from_slice(&done.stdout).unwrap()
}

pub fn start_relay(folder: &Path, listen: &str, options: &[&str]) -> Gateway {
    let (key, clients) = (folder.join("relay.key"), folder.join("van.pub"));
    let control = folder.join("relay.sock");
    let mut arguments = vec!["relay", "--listen", listen];
    arguments.extend(["--control", control.to_str().unwrap()]);
    arguments.extend(["--key", key.to_str().unwrap()]);
    arguments.extend(["--clients", clients.to_str().unwrap()]);
    arguments.extend(options);
    Gateway::start(&arguments)
}

pub fn start_proxy(folder: &Path, relay: SocketAddr, name: &str) -> Gateway {
    start_proxy_with(folder, relay, name, ["", ""])
}

pub fn start_proxy_with(
    folder: &Path,
    relay: SocketAddr,
    name: &str,
    options: [&str; 2],
) -> Gateway {
    let key = folder.join(format!("{name}.key"));
    let relay_key = folder.join("relay.pub");
    let relay = relay.to_string();
    let links = [0, 1].map(|link| {
        let ip = LINKS[link];
        format!("l{}={ip}{}", ip.octets()[3], options[link])
    });
    let control = folder.join(format!("{name}.sock"));
    let quotas = folder.join(format!("{name}.json"));
    let mut arguments = vec!["proxy", "--listen", "127.0.0.1:0", "--relay", &relay];
    arguments.extend(["--control", control.to_str().unwrap()]);
    arguments.extend(["--key", key.to_str().unwrap()]);
    arguments.extend(["--relay-key", relay_key.to_str().unwrap()]);
    arguments.extend(["--quota-state", quotas.to_str().unwrap()]);
    for link in &links {
        arguments.extend(["--link", link]);
    }
    Gateway::start(&arguments)
}

/// Sets timeouts, so that no test hangs.
pub fn with_timeouts(socket: TcpStream) -> TcpStream {
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.set_write_timeout(Some(TIMEOUT)).unwrap();
    socket
}

/// Forwarder of connections, which knows their link by their address.
pub struct Forwarder {
    pub address: SocketAddr,
    connections: Arc<Mutex<Vec<(IpAddr, TcpStream)>>>,
    blocked: Arc<[AtomicBool; 2]>,
    delayed: Arc<AtomicBool>,
}

impl Forwarder {
    fn new(relay: SocketAddr) -> Forwarder {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(Mutex::new(Vec::new()));
        let blocked: Arc<[AtomicBool; 2]> = Arc::default();
        let delayed: Arc<AtomicBool> = Arc::default();
        let (kept, is_blocked) = (Arc::clone(&connections), Arc::clone(&blocked));
        let delay_flag = Arc::clone(&delayed);
        thread::spawn(move || {
            for incoming in listener.incoming().map_while(Result::ok) {
                let ip = incoming.peer_addr().unwrap().ip();
                let link = LINKS.iter().position(|link| *link == ip).unwrap();
                let Ok(outgoing) = TcpStream::connect(relay) else {
                    continue;
                };
                let mut kept = kept.lock().unwrap();
                kept.push((ip, incoming.try_clone().unwrap()));
                kept.push((ip, outgoing.try_clone().unwrap()));
                let directions = [
                    (incoming.try_clone().unwrap(), outgoing.try_clone().unwrap()),
                    (outgoing, incoming),
                ];
                for (from, to) in directions {
                    let (is_blocked, is_delayed) =
                        (Arc::clone(&is_blocked), Arc::clone(&delay_flag));
                    thread::spawn(move || forward(from, to, &is_blocked[link], &is_delayed));
                }
            }
        });
        Forwarder {
            address,
            connections,
            blocked,
            delayed,
        }
    }

    /// Ends the connections of a link, as a NAT or a peer does; returns their number.
    pub fn cut(&self, link: usize) -> usize {
        let mut connections = self.connections.lock().unwrap();
        let before = connections.len();
        connections.retain(|(ip, connection)| {
            let is_kept = *ip != LINKS[link];
            if !is_kept {
                // It may have ended by itself.
                let _ = connection.shutdown(Shutdown::Both);
            }
            is_kept
        });
        before - connections.len()
    }

    /// Delays everything by [`ONE_WAY_DELAY`] in each direction from now on.
    pub fn delay(&self) {
        self.delayed.store(true, Ordering::SeqCst);
    }

    /// Stops forwarding on the link, without closing connections, until called with `false`.
    pub fn set_blocked(&self, link: usize, blocked: bool) {
        self.blocked[link].store(blocked, Ordering::SeqCst);
    }
}

fn forward(
    mut from: TcpStream,
    mut to: TcpStream,
    is_blocked: &AtomicBool,
    is_delayed: &AtomicBool,
) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        while is_blocked.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        if is_delayed.load(Ordering::SeqCst) {
            thread::sleep(ONE_WAY_DELAY);
        }
        if to.write_all(&buffer[..len]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// A target that sends these bytes to each client, and ends.
pub fn source(bytes: Arc<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || socket.write_all(&bytes));
        }
    });
    address
}

/// A target that sends these bytes to each client at 5 MB/s, and ends.
pub fn slow_source(bytes: Arc<Vec<u8>>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || {
                for part in bytes.chunks(50_000) {
                    if socket.write_all(part).is_err() {
                        return;
                    }
                    thread::sleep(Duration::from_millis(10));
                }
            });
        }
    });
    address
}

pub fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let mut back = socket.try_clone().unwrap();
                std::io::copy(&mut socket, &mut back)
            });
        }
    });
    address
}

/// Bytes that differ at every offset: a 64-bit generator (Marsaglia's xorshift).
pub fn pseudo_random(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let words = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    });
    words.take(len.div_ceil(8)).flatten().take(len).collect()
}

/// Connects to the target through a proxy by HTTP CONNECT; an error is the refusing answer.
pub fn connect(proxy: SocketAddr, target: SocketAddr) -> Result<TcpStream, String> {
    let mut socket = with_timeouts(TcpStream::connect(proxy).map_err(|error| error.to_string())?);
    let connect = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n");
    socket.write_all(connect.as_bytes()).unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        socket.read_exact(&mut byte).unwrap();
        answer.push(byte[0]);
    }
    match answer.starts_with(b"HTTP/1.1 200") {
        true => Ok(socket),
        false => Err(String::from_utf8(answer).unwrap()),
    }
}

/// Sends a greeting over a connection, and receives its echo.
pub fn assert_echo(socket: &mut TcpStream) {
    socket.write_all(b"hello").unwrap();
    let mut back = [0; 5];
    socket.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"hello");
}
