//! Relay and proxy as processes at the two ends of emulated links, and connections through them.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_testbed::{Namespace, Testbed};

pub type Failure = Box<dyn Error + Send + Sync>;

const SOCKS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1080);
/// Nothing takes longer than this, waiting for carriers (60 s) included.
pub const HANG: Duration = Duration::from_secs(100);

/// A process that ends with what it is for.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What relay and proxy are started with.
pub struct Ends<'a> {
    gateway: &'a Path,
    testbed: &'a Testbed,
    folder: &'a Path,
    pub server: Ipv4Addr,
}

impl Ends<'_> {
    pub fn new<'a>(
        gateway: &'a Path,
        testbed: &'a Testbed,
        folder: &'a Path,
    ) -> Result<Ends<'a>, Failure> {
        for name in ["relay", "van"] {
            let made = Command::new(gateway)
                .arg("keygen")
                .arg(folder.join(name))
                .output()?;
            if !made.status.success() {
                return Err(String::from_utf8_lossy(&made.stderr).into());
            }
        }
        let IpAddr::V4(server) = testbed.plan.server else {
            return Err("IPv4 is what is tested here".into());
        };
        Ok(Ends {
            gateway,
            testbed,
            folder,
            server,
        })
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    pub fn relay(&self) -> io::Result<Child> {
        let mut command = Command::new(self.gateway);
        command
            .args(["--log", "error", "relay"])
            .args(["--listen", &format!("{}:4433", self.server)])
            .args(["--key", &self.file("relay.key")])
            .args(["--clients", &self.file("van.pub")])
            .args(["--allow", &self.server.to_string()])
            .args(["--control", &self.file("relay.sock")]);
        start(&self.testbed.server, command)
    }

    pub fn proxy(&self) -> io::Result<Child> {
        let mut command = Command::new(self.gateway);
        command
            .args(["--log", "error", "proxy"])
            .args(["--relay", &format!("{}:4433", self.server)])
            .args(["--key", &self.file("van.key")])
            .args(["--relay-key", &self.file("relay.pub")])
            .args(["--control", &self.file("proxy.sock")]);
        for (number, path) in self.testbed.plan.paths.iter().enumerate() {
            command.arg(format!("--link=l{number}={}", path.client[0]));
        }
        start(&self.testbed.client, command)
    }
}

fn start(namespace: &Namespace, mut command: Command) -> io::Result<Child> {
    namespace.run(move || command.spawn())
}

/// Waits for the proxy's door and for a relay behind it.
pub fn ready() -> Result<(), Failure> {
    let end = Instant::now() + HANG;
    while Instant::now() < end {
        if TcpStream::connect(SOCKS).is_ok() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err("the proxy does not listen".into())
}

/// A connection by SOCKS5 (RFC 1928).
pub fn through_socks(to: SocketAddrV4) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(SOCKS)?;
    stream.set_read_timeout(Some(HANG))?;
    stream.write_all(&[5, 1, 0])?;
    let mut method = [0; 2];
    stream.read_exact(&mut method)?;
    let mut request = vec![5, 1, 0, 1];
    request.extend_from_slice(&to.ip().octets());
    request.extend_from_slice(&to.port().to_be_bytes());
    stream.write_all(&request)?;
    let mut reply = [0; 10];
    stream.read_exact(&mut reply)?;
    if method != [5, 0] || reply[..2] != [5, 0] {
        return Err(io::Error::other("SOCKS refused"));
    }
    Ok(stream)
}
