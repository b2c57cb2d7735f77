//! A router between client and relay whose links carry less than 1500 bytes.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ropewalk_gateway::keys::{Clients, SecretKey};
use ropewalk_gateway::tunnel::{Config, Control, Role, Tunnel};
use ropewalk_testbed::Namespace;
use socket2::{Domain, Socket, Type};

use super::refused::until;
use super::router::{ip, join, sysctl};
use super::skipped;

/// Overhead of the tunnel on a link: IPv4, UDP, and its own.
const OVERHEAD: u32 = 68;
const FOUR: [&str; 2] = ["10.199.0.1", "10.199.0.2"];
const SIX: [&str; 2] = ["fd00:199::1", "fd00:199::2"];

struct Network {
    relay: Namespace,
    router: Namespace,
    client: Namespace,
}

impl Network {
    fn new() -> Network {
        let [relay, router, client] =
            ["relay", "router", "client"].map(|name| Namespace::create(name).unwrap());
        for (end, number) in [(&relay, 1), (&client, 2)] {
            join(&router, end, "eth0", 55, number);
        }
        Network {
            relay,
            router,
            client,
        }
    }

    /// Limits the packets that the router forwards. It drops most longer ones silently: veth
    /// rejects single packets more than 4 bytes above its MTU. For UDP GSO, which passes veth
    /// whole, it sends ICMP, which the tunnel ignores.
    fn narrow(&self, mtu: u32) {
        for device in ["to1", "to2"] {
            ip(&self.router, format!("link set {device} mtu {mtu}"));
        }
    }
}

/// Both ends of a tunnel over one link, with these addresses, the relay's first.
struct Ends {
    controls: [Control; 2],
    running: Vec<JoinHandle<()>>,
}

impl Ends {
    fn open(network: &Network, addresses: [&str; 2]) -> Ends {
        let (relay, van) = (SecretKey::generate(), SecretKey::generate());
        let at: SocketAddr = "10.55.1.1:4434".parse().unwrap();
        let listen = Role::Listen {
            at,
            clients: Clients::of_one("van", van.public(), vec![addresses[1].parse().unwrap()]),
        };
        let dial = Role::Dial {
            relays: vec![at],
            key: relay.public(),
            links: vec!["link=10.55.2.1".parse().unwrap()],
        };
        let len = if addresses[0].contains(':') { 64 } else { 24 };
        let sides = [
            (&network.relay, relay, listen, addresses[0]),
            (&network.client, van, dial, addresses[1]),
        ];
        let mut running = Vec::new();
        let controls = sides.map(|(namespace, key, role, address)| {
            let address = format!("{address}/{len}").parse().unwrap();
            let config = Config::new(key, role, vec![address]);
            let tunnel = namespace.run(|| Tunnel::open(config)).unwrap();
            let control = tunnel.control();
            running.push(std::thread::spawn(|| tunnel.run().unwrap()));
            control
        });
        Ends { controls, running }
    }

    fn path_mtus(&self) -> [Option<u32>; 2] {
        let path_mtu = |control: &Control| {
            let peers = control.status().peers;
            Some(peers.first()?.links.first()?.sent.path_mtu)
        };
        [path_mtu(&self.controls[0]), path_mtu(&self.controls[1])]
    }

    fn until_path_mtu(&self, path_mtu: u32) {
        until(&format!("{path_mtu} bytes are found"), || {
            self.path_mtus() == [Some(path_mtu); 2]
        });
    }

    fn close(self) {
        for control in &self.controls {
            control.stop();
        }
        for running in self.running {
            running.join().unwrap();
        }
    }
}

fn device_mtu(namespace: &Namespace) -> u32 {
    let shown = namespace.run(|| {
        let shown = Command::new("ip")
            .args(["link", "show", "ropewalk0"])
            .output();
        String::from_utf8(shown.unwrap().stdout).unwrap()
    });
    let mtu = shown.split(' ').skip_while(|&word| word != "mtu").nth(1);
    mtu.and_then(|mtu| mtu.parse().ok()).expect(&shown)
}

/// Sends a pattern that the relay's end echoes; calls `half_way` after receiving half of it and
/// before writing the rest, since buffers may hold all of it.
fn echo(network: &Network, addresses: [&str; 2], half_way: impl FnOnce()) {
    let [relay, van] = addresses.map(|address| address.parse::<IpAddr>().unwrap());
    let to = SocketAddr::new(relay, 5001);
    let listener = network.relay.run(move || {
        let any = if to.is_ipv4() {
            "0.0.0.0:5001"
        } else {
            "[::]:5001"
        };
        TcpListener::bind(any).unwrap()
    });
    let echo = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut writer = stream.try_clone().unwrap();
        io::copy(&mut stream, &mut writer).unwrap();
    });
    let connect = move || -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(to), Type::STREAM, None)?;
        socket.bind(&SocketAddr::new(van, 0).into())?;
        socket.connect_timeout(&to.into(), Duration::from_secs(20))?;
        Ok(socket.into())
    };
    let mut stream = network.client.run(connect).unwrap();
    let pattern: Vec<u8> = (0..24_000_000_u32)
        .map(|n| (n.wrapping_mul(n) >> 7) as u8)
        .collect();
    let sent = pattern.clone();
    let mut writer = stream.try_clone().unwrap();
    let (go_on, told) = mpsc::channel();
    let writing = std::thread::spawn(move || {
        let (first, second) = sent.split_at(sent.len() / 2);
        writer.write_all(first).unwrap();
        told.recv().unwrap();
        writer.write_all(second).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let mut back = vec![0; pattern.len() / 2];
    stream.read_exact(&mut back).unwrap();
    half_way();
    go_on.send(()).unwrap();
    stream.read_to_end(&mut back).unwrap();
    writing.join().unwrap();
    echo.join().unwrap();
    assert!(back == pattern, "{} bytes came back", back.len());
}

#[test]
fn a_narrow_path_is_found_and_the_device_follows() {
    if skipped() {
        return;
    }
    for addresses in [FOUR, SIX] {
        let network = Network::new();
        network.narrow(1400);
        let ends = Ends::open(&network, addresses);
        until("the client comes in", || ends.path_mtus()[0].is_some());
        let began = Instant::now();
        echo(&network, addresses, || {});
        ends.until_path_mtu(1400);
        eprintln!("found and carried in {:?}", began.elapsed());
        assert_eq!(device_mtu(&network.client), 1400 - OVERHEAD);
        assert_eq!(device_mtu(&network.relay), 1500 - OVERHEAD);
        let relay = &ends.controls[0].status().documents()[0];
        assert_eq!(relay.mtu_bytes, Some(u64::from(1400 - OVERHEAD)));
        assert_eq!(relay.links[0].path_mtu_bytes, Some(1400));
        ends.close();
    }
}

#[test]
fn a_path_that_becomes_narrow_under_a_connection_is_a_pause() {
    if skipped() {
        return;
    }
    for addresses in [FOUR, SIX] {
        let network = Network::new();
        let ends = Ends::open(&network, addresses);
        ends.until_path_mtu(1500);
        let mut narrowed = None;
        echo(&network, addresses, || {
            assert_eq!(device_mtu(&network.client), 1500 - OVERHEAD);
            network.narrow(1400);
            narrowed = Some(Instant::now());
        });
        eprintln!("the rest took {:?}", narrowed.map(|at| at.elapsed()));
        ends.until_path_mtu(1400);
        assert_eq!(device_mtu(&network.client), 1400 - OVERHEAD);
        ends.close();
    }
}

#[test]
fn the_relay_cuts_and_answers_what_is_too_long_for_one_client() {
    if skipped() {
        return;
    }
    let network = Network::new();
    network.narrow(1400);
    let ends = Ends::open(&network, FOUR);
    ends.until_path_mtu(1400);
    let there = network
        .client
        .run(|| UdpSocket::bind("10.199.0.2:5002").unwrap());
    there
        .set_read_timeout(Some(Duration::from_millis(200)))
        .unwrap();
    let arrives = |what: &str, payload: &'static [u8]| {
        let from = network
            .relay
            .run(|| UdpSocket::bind("10.199.0.1:0").unwrap());
        let mut buffer = [0; 2000];
        until(what, || {
            from.send_to(payload, "10.199.0.2:5002").unwrap();
            let got = there.recv_from(&mut buffer);
            got.is_ok_and(|(len, _)| buffer[..len] == *payload)
        });
    };
    // Sockets do not set DF: the tunnel fragments.
    sysctl(&network.relay, "ip_no_pmtu_disc", "1");
    arrives("a datagram that may be cut", &[1; 1404]);
    // Sockets set DF: the first packet gets an error, and the kernel fragments the next.
    sysctl(&network.relay, "ip_no_pmtu_disc", "0");
    arrives("a datagram after an answer", &[2; 1404]);
    ends.close();
}

#[test]
fn a_path_too_narrow_for_ipv6_carries_fragments_if_the_router_makes_them() {
    if skipped() {
        return;
    }
    let network = Network::new();
    // Unlike a device's MTU, a route's MTU drops no arriving packets.
    for number in [1, 2] {
        let route = format!("route replace 10.55.{number}.0/24 dev to{number} mtu 1300");
        ip(&network.router, route);
    }
    let ends = Ends::open(&network, SIX);
    ends.until_path_mtu(1300);
    echo(&network, SIX, || {});
    for control in &ends.controls {
        let link = &control.status().documents()[0].links[0];
        let path_mtus = (link.path_mtu_bytes, link.peer_path_mtu_bytes);
        assert_eq!(link.state.name(), "up");
        assert_eq!(path_mtus, (Some(1300), Some(1300)));
    }
    assert_eq!(device_mtu(&network.client), 1280);
    ends.close();
}

#[test]
fn a_path_too_narrow_for_ipv6_carries_nothing_and_the_device_keeps_its_address() {
    if skipped() {
        return;
    }
    let network = Network::new();
    network.narrow(1300);
    let ends = Ends::open(&network, SIX);
    ends.until_path_mtu(0);
    for control in &ends.controls {
        let link = &control.status().documents()[0].links[0];
        assert_eq!((link.state.name(), link.path_mtu_bytes), ("down", Some(0)));
    }
    // The kernel removes IPv6 from a device below 1280.
    assert!(device_mtu(&network.client) >= 1280);
    network.narrow(1400);
    echo(&network, SIX, || {});
    assert_eq!(device_mtu(&network.client), 1400 - OVERHEAD);
    ends.close();
}
