//! Two network namespaces, `client` (client) and `relay` (relay), with links that tests add and remove.

use std::fs::File;
use std::io::Read;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_gateway::keys::{read_public_key, read_secret_key};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use serde_json::Value;
use tempfile::TempDir;

use crate::adversary::{Client, Session};
use crate::process::{BINARY, Gateway, TIMEOUT};

/// The relay's address, reachable over each link.
pub const RELAY: &str = "10.99.0.1";

/// Address of the echo server in the tunnel.
pub const INNER: &str = "10.9.0.1:7000";

/// A network namespace, removed when dropped.
pub struct Namespace {
    holder: Child,
    /// Whether it also has file systems of its own.
    has_files: bool,
}

impl Namespace {
    pub fn new() -> Namespace {
        let namespace = Namespace::hold(false, "");
        namespace.sh("ip link set lo up");
        namespace
    }

    /// A namespace with a copy of this machine's /etc, and an empty /run.
    pub fn machine() -> Namespace {
        Namespace::hold(
            true,
            "mount -t tmpfs none /run; mkdir /run/etc /run/work
             mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/etc,workdir=/run/work /etc
             ip link set lo up;",
        )
    }

    fn hold(has_files: bool, begin: &str) -> Namespace {
        let mut command = Command::new("unshare");
        command.arg("--net");
        if has_files {
            command.args(["--mount", "--propagation", "private"]);
        }
        // Standard output reports that it is ready.
        let script = format!("set -e; {begin} echo; exec sleep infinity");
        command.args(["sh", "-c", &script]).stdin(Stdio::null());
        let mut holder = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = [0];
        let ready = holder.stdout.as_mut().unwrap().read_exact(&mut line);
        ready.expect("a namespace begins");
        Namespace { holder, has_files }
    }

    pub fn add_veth(&self, name: &str, other: &Namespace, its: &str) {
        self.sh(&format!(
            "ip link add {name} type veth peer name {its} netns {}; ip link set {name} up",
            other.pid()
        ));
        other.sh(&format!("ip link set {its} up"));
    }

    fn path(&self) -> String {
        format!("/proc/{}/ns/net", self.pid())
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(format!("--net={}", self.path()));
        if self.has_files {
            command.arg(format!("--mount=/proc/{}/ns/mnt", self.pid()));
        }
        command.arg(program);
        command
    }

    /// Runs a shell script, line by line.
    pub fn sh(&self, script: &str) {
        let done = self.command("sh").args(["-ec", script]).output().unwrap();
        assert!(done.status.success(), "{script}: {done:?}");
    }

    pub fn gateway(&self, arguments: &str) -> Gateway {
        let mut command = self.command(BINARY);
        Gateway::run(command.args(arguments.split_whitespace()))
    }

    pub fn output(&self, arguments: &str) -> Output {
        let mut command = self.command(BINARY);
        command.args(arguments.split_whitespace()).output().unwrap()
    }

    pub fn output_of(&self, program: &str, arguments: &str) -> String {
        let mut command = self.command(program);
        let done = command.args(arguments.split_whitespace()).output().unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    pub fn in_thread<T: Send + 'static>(&self, act: impl FnOnce() -> T + Send + 'static) -> T {
        let file = File::open(self.path()).unwrap();
        let thread = thread::spawn(move || {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
            act()
        });
        thread.join().unwrap()
    }

    pub fn pid(&self) -> u32 {
        self.holder.id()
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// Both namespaces, keys for a relay and a van, and a folder for control sockets.
pub struct Network {
    pub client: Namespace,
    pub relay: Namespace,
    pub folder: TempDir,
}

/// Creates a network with the links 1 to `count`; prints a reason and returns `None` on a machine that lacks a
/// requirement.
pub fn with_links(count: u32) -> Option<Network> {
    let network = Network::new()?;
    (1..=count).for_each(|number| network.add_link(number));
    Some(network)
}

impl Network {
    fn new() -> Option<Network> {
        let unshare = Command::new("unshare").args(["--net", "true"]).output();
        if !unshare.is_ok_and(|done| done.status.success()) {
            eprintln!("skipped: making network namespaces takes root, and unshare(1)");
            return None;
        }
        if !Path::new("/dev/net/tun").exists() {
            eprintln!("skipped: there is no /dev/net/tun");
            return None;
        }
        let network = Network {
            client: Namespace::new(),
            relay: Namespace::new(),
            folder: tempfile::tempdir().unwrap(),
        };
        network.relay.sh(&format!("ip addr add {RELAY}/32 dev lo"));
        for name in ["relay", "van"] {
            let done = network
                .client
                .output(&format!("keygen {}", network.file(name)));
            assert!(done.status.success(), "{done:?}");
        }
        let van = std::fs::read_to_string(network.file("van.pub")).unwrap();
        let clients = format!("{} addresses=10.9.0.2\n", van.trim());
        std::fs::write(network.file("clients"), clients).unwrap();
        Some(network)
    }

    pub fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Adds link `number`: the interface `linkN` at both ends, 10.71.N.1 at the relay and 10.71.N.2 at the client.
    pub fn add_link(&self, number: u32) {
        self.client.sh(&format!(
            "ip link add link{number} type veth peer name link{number} netns {}",
            self.relay.pid()
        ));
        self.relay.sh(&format!(
            "ip addr add 10.71.{number}.1/24 dev link{number}; ip link set link{number} up"
        ));
        self.client.sh(&format!("ip link set link{number} up"));
        self.add_address(number, 2);
    }

    /// Adds an address and a route to the relay at the client's end of a link.
    pub fn add_address(&self, number: u32, host: u32) {
        self.client.sh(&format!(
            "ip addr add 10.71.{number}.{host}/24 dev link{number}; \
             ip route add {RELAY}/32 via 10.71.{number}.1 dev link{number} metric {number}"
        ));
    }

    /// Removes an address of the client's end of a link, with its route.
    pub fn remove_address(&self, number: u32, host: u32) {
        self.client.sh(&format!(
            "ip addr del 10.71.{number}.{host}/24 dev link{number}; \
             ip route flush dev link{number}"
        ));
    }

    pub fn relay_arguments(&self) -> String {
        format!(
            "tunnel --listen 0.0.0.0:4434 --key {} --clients {} --address 10.9.0.1/24 --control {}",
            self.file("relay.key"),
            self.file("clients"),
            self.file("relay.sock")
        )
    }

    pub fn start_relay(&self) -> Gateway {
        let relay = self.relay.gateway(&self.relay_arguments());
        relay.wait_for("is up");
        relay
    }

    /// Arguments of the client, for a relay of that name, with more words.
    pub fn client_arguments(&self, relay: &str, words: &str) -> String {
        format!(
            "tunnel --relay {relay}:4434 --relay-key {} --key {} --address 10.9.0.2/24 --control {} {words}",
            self.file("relay.pub"),
            self.file("van.key"),
            self.file("client.sock")
        )
    }

    pub fn start_client(&self, relay: &str, words: &str) -> Gateway {
        self.client.gateway(&self.client_arguments(relay, words))
    }

    /// Starts a relay and a client with links 1 and 2.
    pub fn start_tunnel(&self) -> [Gateway; 2] {
        let relay = self.start_relay();
        let client = self.start_client(RELAY, "--link one=link1 --link two=link2");
        client.wait_for("is up");
        self.start_echo();
        [relay, client]
    }

    pub fn start_echo(&self) {
        echo(&self.relay, INNER);
    }

    /// Sends through the tunnel until an echo arrives; returns how long that took.
    pub fn until_echo(&self) -> Duration {
        until_answered(&self.client, INNER.parse().unwrap())
    }

    pub fn adversary(&self, socket: UdpSocket) -> Session {
        let secret = read_secret_key(self.file("van.key").as_ref()).unwrap();
        let key = read_public_key(self.file("relay.pub").as_ref()).unwrap();
        let at = SocketAddr::new(RELAY.parse().unwrap(), 4434);
        Client::new(secret, key, &["10.9.0.2"]).connect(socket, at)
    }

    pub fn status(&self) -> Value {
        let done = self.client.output(&format!(
            "status --json --control {}",
            self.file("client.sock")
        ));
        serde_json::from_slice(&done.stdout).unwrap_or_default()
    }

    /// Waits until the client's status of a link satisfies `is_so`; returns how long that took.
    pub fn until(&self, what: &str, link: &str, is_so: impl Fn(&Value) -> bool) -> Duration {
        let begin = Instant::now();
        loop {
            let status = self.status();
            let groups = ["associations", "tunnels"]
                .iter()
                .filter_map(|kind| status.get(kind)?.as_array().cloned());
            let links = groups
                .flatten()
                .filter_map(|group| group["links"].as_array().cloned());
            let mut named = links.flatten().filter(|known| known["name"] == link);
            if named.any(|link| is_so(&link)) {
                println!("{what}: {} ms", begin.elapsed().as_millis());
                return begin.elapsed();
            }
            assert!(begin.elapsed() < TIMEOUT, "{what}: {status:#}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

pub fn is(state: &'static str) -> impl Fn(&Value) -> bool {
    move |link| link["state"] == state
}

/// Starts a UDP echo server at an address of a namespace.
pub fn echo(namespace: &Namespace, at: &'static str) {
    let socket = namespace.in_thread(move || UdpSocket::bind(at).unwrap());
    thread::spawn(move || {
        let mut buffer = [0; 2048];
        while let Ok((len, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..len], from);
        }
    });
}

/// Sends until an echo arrives; returns how long that took.
pub fn until_answered(namespace: &Namespace, to: SocketAddr) -> Duration {
    let socket = namespace.in_thread(|| UdpSocket::bind("0.0.0.0:0").unwrap());
    socket
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    let begin = Instant::now();
    while begin.elapsed() < TIMEOUT {
        let _ = socket.send_to(b"hello", to);
        if socket.recv(&mut [0; 16]).is_ok() {
            return begin.elapsed();
        }
    }
    panic!("{to} does not answer");
}
