//! Relay and proxy, or a tunnel, as processes at the two ends of emulated links, and connections through them.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::path::Path;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_scenario::Scenario;
use ropewalk_testbed::{Namespace, Testbed};

/// Any error, with its message.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The relay's address within a tunnel.
pub const RELAY: Ipv4Addr = Ipv4Addr::new(10, 199, 0, 1);
/// The client's address within a tunnel.
pub const VAN: Ipv4Addr = Ipv4Addr::new(10, 199, 0, 2);
const SOCKS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1080);
/// Time limit of each step, waiting for carriers (60 s) included.
pub const TIME_LIMIT: Duration = Duration::from_secs(100);

/// Default option `gateway`: the program under test.
pub const GATEWAY: (&str, &str) = ("gateway", "target/release/ropewalk-gateway");
/// Default option `links`.
pub const LINKS: (&str, &str) = ("links", "20/20,5/200");

/// Returns the values of `KEY=VALUE` arguments, in the order of `defaults`: pairs of a key and its default.
///
/// # Errors
/// An argument has another key.
pub fn options<const N: usize>(defaults: [(&str, &str); N]) -> Result<[String; N], Failure> {
    let mut values = defaults.map(|(_, value)| value.to_owned());
    for argument in std::env::args().skip(1) {
        let (key, value) = argument.split_once('=').unwrap_or_default();
        let index = defaults.iter().position(|(name, _)| *name == key);
        let allowed = || defaults.map(|(key, _)| format!("{key}=")).join(", ");
        let index = index.ok_or_else(|| format!("{argument}: allowed: {}", allowed()))?;
        values[index] = value.to_owned();
    }
    Ok(values)
}

/// Parses links as Mbit/s and milliseconds of round trip, for example "20/20,5/200". Queues have one
/// bandwidth-delay product. The link with the number in `outage` is down between these seconds.
///
/// # Errors
/// The text is not a list of links.
pub fn scenario(links: &str, outage: Option<(usize, [u64; 2])>) -> Result<Scenario, Failure> {
    let mut text = String::from("duration = \"60 s\"\n");
    for (number, link) in links.split(',').enumerate() {
        let (rate, round_trip) = link.split_once('/').ok_or("a link is RATE/ROUND-TRIP")?;
        let delay = round_trip.parse::<f64>()? / 2.0;
        text += &format!(
            "[[link]]\nname = \"l{number}\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\nqueue = \"1 bdp\"\n"
        );
        if let Some((_, [from, until])) = outage.filter(|(link, _)| *link == number) {
            text += &format!("down = [[\"{from} s\", \"{until} s\"]]\n");
        }
    }
    text += "[transport]\nprotocol = \"mptcp\"\n";
    let mut no_traces = |_: &str| Err("no traces here".to_owned());
    Ok(Scenario::parse(&text, "links", &[], &mut no_traces)?)
}

/// A process that is killed when dropped.
pub struct KillOnDrop(pub Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Settings of relay and proxy.
pub struct Endpoints<'a> {
    gateway: &'a Path,
    folder: &'a Path,
    client: &'a Namespace,
    server: &'a Namespace,
    /// Address of the server, where the relay listens.
    pub address: Ipv4Addr,
    /// Addresses or interfaces of the client.
    links: Vec<String>,
    extra: &'a [&'a str],
}

impl<'a> Endpoints<'a> {
    /// Creates the settings for the two ends of a testbed's links.
    ///
    /// # Errors
    /// No keys could be made, or the server has no IPv4 address.
    pub fn new(
        gateway: &'a Path,
        testbed: &'a Testbed,
        folder: &'a Path,
    ) -> Result<Endpoints<'a>, Failure> {
        let IpAddr::V4(address) = testbed.plan.server else {
            return Err("only IPv4 is tested here".into());
        };
        let paths = testbed.plan.paths.iter();
        let links = paths.map(|path| path.client[0].to_string()).collect();
        let namespaces = [&testbed.client, &testbed.server];
        Endpoints::in_namespaces(gateway, folder, namespaces, address, links)
    }

    /// Creates the settings for two namespaces, the client's first.
    ///
    /// # Errors
    /// No keys could be made.
    pub fn in_namespaces(
        gateway: &'a Path,
        folder: &'a Path,
        [client, server]: [&'a Namespace; 2],
        address: Ipv4Addr,
        links: Vec<String>,
    ) -> Result<Endpoints<'a>, Failure> {
        for name in ["relay", "van"] {
            let made = Command::new(gateway)
                .arg("keygen")
                .arg(folder.join(name))
                .output()?;
            if !made.status.success() {
                return Err(String::from_utf8_lossy(&made.stderr).into());
            }
        }
        Ok(Endpoints {
            gateway,
            folder,
            client,
            server,
            address,
            links,
            extra: &[],
        })
    }

    /// Adds arguments for both ends.
    #[must_use]
    pub fn with(mut self, extra: &'a [&'a str]) -> Endpoints<'a> {
        self.extra = extra;
        self
    }

    /// Whether the proxy uses no keys. A tunnel always has keys, since its handshake is encrypted.
    fn is_plain(&self) -> bool {
        self.extra.contains(&"--plaintext")
    }

    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Starts a relay at the server.
    ///
    /// # Errors
    /// The program does not start.
    pub fn relay(&self) -> io::Result<Child> {
        let mut command = Command::new(self.gateway);
        command
            .args(["--log", "error", "relay"])
            .args(["--listen", &format!("{}:4433", self.address)])
            .args(["--allow", &self.address.to_string()])
            .args(["--control", &self.file("relay.sock")])
            .args(self.extra);
        if !self.is_plain() {
            command
                .args(["--key", &self.file("relay.key")])
                .args(["--clients", &self.file("van.pub")]);
        }
        start(self.server, command)
    }

    /// Starts a proxy at the client.
    ///
    /// # Errors
    /// The program does not start.
    pub fn proxy(&self) -> io::Result<Child> {
        let mut command = Command::new(self.gateway);
        command
            .args(["--log", "error", "proxy"])
            .args(["--relay", &format!("{}:4433", self.address)])
            .args(["--control", &self.file("proxy.sock")])
            .args(self.extra);
        if !self.is_plain() {
            command
                .args(["--key", &self.file("van.key")])
                .args(["--relay-key", &self.file("relay.pub")]);
        }
        self.add_links(&mut command);
        start(self.client, command)
    }

    /// Starts both ends of a tunnel with these inner addresses, the server's first.
    ///
    /// # Errors
    /// A file of the tunnel cannot be read or written, or the program does not start.
    pub fn tunnel(&self, [server, client]: [Ipv4Addr; 2]) -> io::Result<[Child; 2]> {
        let clients = self.clients(client)?;
        let mut relay = Command::new(self.gateway);
        relay
            .args(["--log", "error", "tunnel"])
            .args(["--listen", &format!("{}:4434", self.address)])
            .args(["--key", &self.file("relay.key")])
            .args(["--clients", &clients])
            .args(["--address", &format!("{server}/24")])
            .args(["--control", &self.file("far.sock")])
            .args(self.extra);
        let mut van = Command::new(self.gateway);
        van.args(["--log", "error", "tunnel"])
            .args(["--relay", &format!("{}:4434", self.address)])
            .args(["--key", &self.file("van.key")])
            .args(["--relay-key", &self.file("relay.pub")])
            .args(["--address", &format!("{client}/24")])
            .args(["--control", &self.file("near.sock")])
            .args(self.extra);
        self.add_links(&mut van);
        Ok([start(self.server, relay)?, start(self.client, van)?])
    }

    /// Starts a relay and a client with these addresses in the tunnel, the relay's first, and the extra arguments for
    /// the client. The hook lays routes and rules.
    ///
    /// # Errors
    /// As [`tunnel`](Endpoints::tunnel).
    pub fn client(&self, [server, client]: [Ipv4Addr; 2], hook: &Path) -> io::Result<[Child; 2]> {
        let clients = self.clients(client)?;
        let mut relay = Command::new(self.gateway);
        relay
            .args(["--log", "error", "relay"])
            .args(["--listen", &format!("{}:4433", self.address)])
            .args(["--key", &self.file("relay.key")])
            .args(["--clients", &clients])
            .args(["--allow", &server.to_string()])
            .args(["--address", &format!("{server}/24")])
            .args(["--control", &self.file("relay.sock")])
            .arg("--hook")
            .arg(hook);
        let mut van = Command::new(self.gateway);
        van.args(["--log", "error", "client"])
            .args(["--relay", &format!("{}:4433", self.address)])
            .args(["--key", &self.file("van.key")])
            .args(["--relay-key", &self.file("relay.pub")])
            .args(["--address", &format!("{client}/24")])
            .args(["--control", &self.file("client.sock")])
            .args(["--quota-state", &self.file("quota.json")])
            .arg("--hook")
            .arg(hook)
            .args(self.extra);
        self.add_links(&mut van);
        Ok([start(self.server, relay)?, start(self.client, van)?])
    }

    /// Writes the relay's list of clients: this one, with its address in the tunnel. Returns the file.
    fn clients(&self, client: Ipv4Addr) -> io::Result<String> {
        let key = std::fs::read_to_string(self.file("van.pub"))?;
        let clients = self.file("clients");
        std::fs::write(&clients, format!("{} addresses={client}\n", key.trim_end()))?;
        Ok(clients)
    }

    fn add_links(&self, command: &mut Command) {
        for (number, link) in self.links.iter().enumerate() {
            command.arg(format!("--link=l{number}={link}"));
        }
    }
}

fn start(namespace: &Namespace, mut command: Command) -> io::Result<Child> {
    namespace.run(move || command.spawn())
}

/// Waits until the proxy listens and reaches a relay.
///
/// # Errors
/// It does not listen within [`TIME_LIMIT`].
pub fn ready() -> Result<(), Failure> {
    let end = Instant::now() + TIME_LIMIT;
    while Instant::now() < end {
        if TcpStream::connect(SOCKS).is_ok() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(50));
    }
    Err("the proxy does not listen".into())
}

/// Opens a connection by SOCKS5 (RFC 1928).
///
/// # Errors
/// The proxy refuses, or does not answer.
pub fn through_socks(to: SocketAddrV4) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(SOCKS)?;
    stream.set_read_timeout(Some(TIME_LIMIT))?;
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
