//! Six machines in network namespaces: a van with two links and a network behind it, an internet, a relay
//! with a private machine behind it, and an attacker.
//!
//! ```text
//!              192.168.1.0/24 (wlan0)
//!  lan ── van                         ── inet ── relay ── private
//!              192.168.2.0/24 (wwan0)     │
//!   192.168.50.0/24                    attacker 198.51.100.66
//! ```
//!
//! Each has its own /etc and /run. The internet routes, and has 9.9.9.9 and 9.9.9.10.

use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::network::Namespace;
use crate::process::{Gateway, TIMEOUT};

/// The relay's address towards the internet.
pub const RELAY: &str = "203.0.113.2";
pub const SERVER: &str = "9.9.9.10";
pub const INNER: [&str; 2] = ["10.9.0.2", "fd00:9::2"];

/// The machines, and a folder with keys for a relay and a van.
pub struct Machines {
    pub van: Namespace,
    pub lan: Namespace,
    pub inet: Namespace,
    pub relay: Namespace,
    pub private: Namespace,
    pub attacker: Namespace,
    pub folder: TempDir,
}

/// Creates machines with links, addresses and routes; prints a reason and returns `None` on a machine that lacks a
/// requirement.
pub fn machines() -> Option<Machines> {
    if let Some(missing_requirement) = missing_requirement() {
        eprintln!("skipped: this takes {missing_requirement}");
        return None;
    }
    let [van, lan, inet, relay, private, attacker] = [(); 6].map(|()| Namespace::machine());
    let machines = Machines {
        van,
        lan,
        inet,
        relay,
        private,
        attacker,
        folder: tempfile::tempdir().unwrap(),
    };
    machines.connect_all();
    for name in ["relay", "van"] {
        let done = machines
            .van
            .output(&format!("keygen {}", machines.file(name)));
        assert!(done.status.success(), "{done:?}");
    }
    let van = fs::read_to_string(machines.file("van.pub")).unwrap();
    let clients = format!("{} addresses={}\n", van.trim(), INNER.join(","));
    fs::write(machines.file("clients"), clients).unwrap();
    Some(machines)
}

impl Machines {
    fn connect_all(&self) {
        for (one, name, other, its) in [
            (&self.van, "wlan0", &self.inet, "wifi"),
            (&self.van, "wwan0", &self.inet, "lte"),
            (&self.relay, "eth0", &self.inet, "rack"),
            (&self.van, "eth0", &self.lan, "eth0"),
            (&self.relay, "eth1", &self.private, "eth0"),
            (&self.attacker, "eth0", &self.inet, "evil"),
        ] {
            one.add_veth(name, other, its);
        }
        self.inet.sh(
            "echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
             for i in all wifi lte rack evil; do echo 0 >/proc/sys/net/ipv4/conf/$i/rp_filter; done
             ip addr add 192.168.1.1/24 dev wifi; ip addr add 192.168.2.1/24 dev lte
             ip addr add 203.0.113.1/24 dev rack; ip addr add 198.51.100.1/24 dev evil
             ip addr add 2001:db8:1::1/64 dev wifi nodad; ip addr add 2001:db8:2::1/64 dev lte nodad
             ip addr add 2001:db8:3::1/64 dev rack nodad; ip addr add 2001:db8:4::1/64 dev evil nodad
             ip addr add 9.9.9.9/32 dev lo; ip addr add 9.9.9.10/32 dev lo
             ip addr add 2620:fe::10/128 dev lo",
        );
        self.van.sh(
            "ip addr add 192.168.1.2/24 dev wlan0; ip addr add 192.168.2.2/24 dev wwan0
             ip addr add 192.168.50.1/24 dev eth0
             ip route add default via 192.168.1.1 dev wlan0 metric 100
             ip route add default via 192.168.2.1 dev wwan0 metric 200
             rm -f /etc/resolv.conf; echo nameserver 192.168.1.1 >/etc/resolv.conf
             echo 1 >/proc/sys/net/ipv4/ip_forward",
        );
        self.lan
            .sh("ip addr add 192.168.50.10/24 dev eth0; ip route add default via 192.168.50.1");
        self.relay.sh(
            "ip addr add 203.0.113.2/24 dev eth0; ip route add default via 203.0.113.1
             ip addr add 10.66.0.1/24 dev eth1
             ip addr add 2001:db8:3::2/64 dev eth0 nodad; ip -6 route add default via 2001:db8:3::1",
        );
        self.private
            .sh("ip addr add 10.66.0.5/24 dev eth0; ip route add default via 10.66.0.1");
        self.attacker
            .sh("ip addr add 198.51.100.66/24 dev eth0; ip route add default via 198.51.100.1");
    }

    pub fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Starts the relay with the packaged hook, and waits for its device.
    pub fn start_relay(&self, more: &str) -> Gateway {
        let relay = self.relay.gateway(&self.relay_arguments(more));
        relay.wait_for("is up");
        relay
    }

    pub fn relay_arguments(&self, more: &str) -> String {
        format!(
            "tunnel --listen [::]:4434 --key {} --clients {} --address 10.9.0.1/24 \
             --address fd00:9::1/64 --device ropewalk0 --hook {} --masquerade --control {} {more}",
            self.file("relay.key"),
            self.file("clients"),
            hook(),
            self.file("relay.sock"),
        )
    }

    /// Starts the van's end of the tunnel with the packaged hook and a default route.
    pub fn start_van(&self, more: &str) -> Gateway {
        self.van.gateway(&self.van_arguments(more))
    }

    pub fn van_arguments(&self, more: &str) -> String {
        format!(
            "tunnel --relay {RELAY}:4434 --relay-key {} --key {} --link wifi=wlan0 --link lte=wwan0 \
             --address 10.9.0.2/24 --device ropewalk0 --hook {} --default-route --control {} {more}",
            self.file("relay.pub"),
            self.file("van.key"),
            hook(),
            self.file("van.sock"),
        )
    }
}

pub fn hook() -> String {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let hook = here.join("../../packaging/hooks/tunnel-hook");
    hook.canonicalize().unwrap().display().to_string()
}

/// Returns a missing requirement.
pub fn missing_requirement() -> Option<&'static str> {
    let can = |script: &str| {
        let mut command = Command::new("unshare");
        let done = command.args(["--net", "--mount", "sh", "-c", script]);
        done.output().is_ok_and(|done| done.status.success())
    };
    if !can("mount -t tmpfs none /run") {
        return Some("root, for namespaces (unshare)");
    }
    if !Path::new("/dev/net/tun").exists() {
        return Some("/dev/net/tun");
    }
    let veth_and_rule = "ip link add name a type veth peer name b && \
                         ip rule add pref 9 lookup main suppress_prefixlength 0";
    if !can(veth_and_rule) {
        return Some("iproute2, and veth devices in the kernel");
    }
    let nat = "add table inet a; add chain inet a b { type nat hook postrouting priority 100; }; \
               add rule inet a b masquerade; list ruleset";
    if !can(&format!("nft '{nat}'")) {
        return Some("nft, and NAT in the kernel");
    }
    None
}

pub fn serve(namespace: &Namespace, at: &str) {
    let at: SocketAddr = at.parse().unwrap();
    let listener = namespace.in_thread(move || TcpListener::bind(at).unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || {
                let (mut stream, mut count) = (stream, 0_u64);
                let ip = stream.peer_addr().unwrap().ip().to_canonical();
                let mut block = format!("{ip}\n").into_bytes();
                // Slow enough for a busy machine.
                while stream.write_all(&block).is_ok() {
                    block = vec![count as u8; 1 << 12];
                    count += 1;
                    thread::sleep(Duration::from_millis(10));
                }
            });
        }
    });
}

/// Returns the address that a server of [`serve`] sees of a machine, or why it is unreachable.
pub fn seen_as(namespace: &Namespace, server: &str) -> Result<IpAddr, String> {
    let server: SocketAddr = server.parse().unwrap();
    namespace.in_thread(move || {
        let wait = Duration::from_secs(2);
        let stream = TcpStream::connect_timeout(&server, wait);
        let mut stream = stream.map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let (mut line, mut byte) = (String::new(), [0]);
        while byte != *b"\n" {
            stream
                .read_exact(&mut byte)
                .map_err(|error| error.to_string())?;
            line.push(byte[0].into());
        }
        line.trim().parse().map_err(|_| line)
    })
}

pub fn wait_until_seen_as(namespace: &Namespace, server: &str, address: &str) {
    let begin = Instant::now();
    loop {
        let seen = seen_as(namespace, server);
        if seen
            .as_ref()
            .is_ok_and(|seen| *seen == address.parse::<IpAddr>().unwrap())
        {
            return;
        }
        assert!(
            begin.elapsed() < TIMEOUT,
            "{server} sees {seen:?}, not {address}"
        );
        thread::sleep(Duration::from_millis(50));
    }
}

/// A connection that receives from a server of [`serve`] all the time.
pub struct Download {
    received: Arc<AtomicU64>,
}

impl Download {
    pub fn start(namespace: &Namespace, server: &str) -> Download {
        let server: SocketAddr = server.parse().unwrap();
        let mut stream =
            namespace.in_thread(move || TcpStream::connect_timeout(&server, TIMEOUT).unwrap());
        let received = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&received);
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(len @ 1..) = stream.read(&mut buffer) {
                count.fetch_add(len as u64, Ordering::Relaxed);
            }
        });
        Download { received }
    }

    pub fn wait_for_progress(&self, when: &str) -> Duration {
        let (begin, before) = (Instant::now(), self.received.load(Ordering::Relaxed));
        while self.received.load(Ordering::Relaxed) < before + (1 << 15) {
            assert!(
                begin.elapsed() < TIMEOUT,
                "{when}: the download has stopped"
            );
            thread::sleep(Duration::from_millis(10));
        }
        begin.elapsed()
    }
}
