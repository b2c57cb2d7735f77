//! A relay and a proxy as processes on loopback, with a forwarder between them that can cut links.

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

pub use crate::process::{BINARY, Gateway, TIMEOUT, until};

/// One-way delay. A round trip of more than 0.25 s makes the proxy dial a link again.
const LATENESS: Duration = Duration::from_millis(200);

pub const LINKS: [Ipv4Addr; 2] = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)];

/// A relay, a proxy with two links, and the forwarder between them.
pub struct World {
    pub folder: TempDir,
    pub relay: Gateway,
    pub relay_at: SocketAddr,
    pub between: Between,
    pub proxy: Gateway,
    pub proxy_at: SocketAddr,
}

impl World {
    pub fn new(relay_options: &[&str]) -> World {
        World::of_links(relay_options, ["", ""])
    }

    /// Adds `said` to each link's description.
    pub fn of_links(relay_options: &[&str], said: [&str; 2]) -> World {
        let folder = tempfile::tempdir().unwrap();
        for name in ["relay", "van"] {
            let made = Command::new(BINARY)
                .arg("keygen")
                .arg(folder.path().join(name))
                .output();
            assert!(made.unwrap().status.success());
        }
        // At an address of its own: no other connection takes its port while it is down.
        let relay = start_relay(folder.path(), "127.0.0.2:0", relay_options);
        let relay_at = relay.wait_for("relay listens on ").parse().unwrap();
        let between = Between::new(relay_at);
        let proxy = start_proxy_of(folder.path(), between.address, "van", said);
        let proxy_at = proxy.wait_for("proxy listens on ").parse().unwrap();
        World {
            folder,
            relay,
            relay_at,
            between,
            proxy,
            proxy_at,
        }
    }

    /// Connects to the target through the proxy; an error is SOCKS's code.
    pub fn connect(&self, target: SocketAddr) -> Result<TcpStream, u8> {
        let mut socket = patient(TcpStream::connect(self.proxy_at).unwrap());
        let IpAddr::V4(ip) = target.ip() else {
            panic!("{target}")
        };
        let mut says = b"\x05\x01\x00\x05\x01\x00\x01".to_vec();
        says.extend(ip.octets());
        says.extend(target.port().to_be_bytes());
        socket.write_all(&says).unwrap();
        let mut hears = [0; 12];
        socket.read_exact(&mut hears).unwrap();
        match hears[3] {
            0 => Ok(socket),
            code => Err(code),
        }
    }
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
    start_proxy_of(folder, relay, name, ["", ""])
}

pub fn start_proxy_of(folder: &Path, relay: SocketAddr, name: &str, said: [&str; 2]) -> Gateway {
    let key = folder.join(format!("{name}.key"));
    let relay_key = folder.join("relay.pub");
    let relay = relay.to_string();
    let links = [0, 1].map(|link| {
        let ip = LINKS[link];
        format!("l{}={ip}{}", ip.octets()[3], said[link])
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
pub fn patient(socket: TcpStream) -> TcpStream {
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    socket.set_write_timeout(Some(TIMEOUT)).unwrap();
    socket
}

/// Forwarder of connections, which knows their link by their address.
pub struct Between {
    pub address: SocketAddr,
    connections: Arc<Mutex<Vec<(IpAddr, TcpStream)>>>,
    dark: Arc<[AtomicBool; 2]>,
    late: Arc<AtomicBool>,
}

impl Between {
    fn new(relay: SocketAddr) -> Between {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(Mutex::new(Vec::new()));
        let dark: Arc<[AtomicBool; 2]> = Arc::default();
        let late: Arc<AtomicBool> = Arc::default();
        let (kept, is_dark) = (Arc::clone(&connections), Arc::clone(&dark));
        let lateness = Arc::clone(&late);
        thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                let ip = near.peer_addr().unwrap().ip();
                let link = LINKS.iter().position(|link| *link == ip).unwrap();
                let Ok(far) = TcpStream::connect(relay) else {
                    continue;
                };
                let mut kept = kept.lock().unwrap();
                kept.push((ip, near.try_clone().unwrap()));
                kept.push((ip, far.try_clone().unwrap()));
                let ways = [
                    (near.try_clone().unwrap(), far.try_clone().unwrap()),
                    (far, near),
                ];
                for (from, to) in ways {
                    let (is_dark, is_late) = (Arc::clone(&is_dark), Arc::clone(&lateness));
                    thread::spawn(move || pass(from, to, &is_dark[link], &is_late));
                }
            }
        });
        Between {
            address,
            connections,
            dark,
            late,
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

    /// Delays everything by [`LATENESS`] in each direction from now on.
    pub fn be_late(&self) {
        self.late.store(true, Ordering::SeqCst);
    }

    /// Stops forwarding on the link, without closing connections, until called with `false`.
    pub fn darken(&self, link: usize, dark: bool) {
        self.dark[link].store(dark, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, is_dark: &AtomicBool, is_late: &AtomicBool) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(len @ 1..) = from.read(&mut buffer) {
        while is_dark.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(5));
        }
        if is_late.load(Ordering::SeqCst) {
            thread::sleep(LATENESS);
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
pub fn steady(bytes: Arc<Vec<u8>>) -> SocketAddr {
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
pub fn noise(len: usize, seed: u64) -> Vec<u8> {
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
    let mut socket = patient(TcpStream::connect(proxy).map_err(|error| error.to_string())?);
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
pub fn greets(socket: &mut TcpStream) {
    socket.write_all(b"hello").unwrap();
    let mut back = [0; 5];
    socket.read_exact(&mut back).unwrap();
    assert_eq!(&back, b"hello");
}
