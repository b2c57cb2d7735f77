//! Ranks and quotas of a tunnel's links.

use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ropewalk_gateway::Link;
use ropewalk_gateway::keys::{Clients, SecretKey};
use ropewalk_gateway::quota::UsageStore;
use ropewalk_gateway::tunnel::{Config, Control, PeerLink, Reload, Role, Tunnel};
use ropewalk_testbed::{Namespace, Testbed};

use super::refused::until;
use super::router::{ip, join};
use super::{CLIENT, RELAY, connect, network, skipped, use_congestion_control};

struct TwoPaths {
    relay: Namespace,
    router: Namespace,
    client: Namespace,
}

const RELAY_AT: &str = "10.56.9.1";

impl TwoPaths {
    fn new() -> TwoPaths {
        let [relay, router, client] =
            ["relay", "router", "client"].map(|name| Namespace::create(name).unwrap());
        for (end, device, number) in [
            (&client, "eth1", 1),
            (&client, "eth2", 2),
            (&relay, "eth0", 9),
        ] {
            join(&router, end, device, 56, number);
        }
        TwoPaths {
            relay,
            router,
            client,
        }
    }

    /// Lets the first path drop all packets silently, or no longer.
    fn set_blackhole(&self, drops: bool) {
        let act = if drops { "add" } else { "del" };
        ip(
            &self.router,
            format!("rule {act} iif to1 blackhole pref 10"),
        );
        ip(
            &self.router,
            format!("rule {act} to 10.56.1.1 blackhole pref 11"),
        );
    }
}

struct Ends {
    relay: Control,
    client: Control,
    running: Vec<JoinHandle<()>>,
}

impl Ends {
    fn open(
        namespaces: [&Namespace; 2],
        at: SocketAddr,
        links: &[String],
        usage: UsageStore,
    ) -> Ends {
        let (relay, van) = (SecretKey::generate(), SecretKey::generate());
        let listen = Role::Listen {
            at,
            clients: Clients::of_one("van", van.public(), vec![CLIENT.parse().unwrap()]),
        };
        let dial = Role::Dial {
            relays: vec![at],
            key: relay.public(),
            links: parsed(links),
        };
        let mut running = Vec::new();
        let mut open = |namespace: &Namespace, key, role, address: &str| {
            let address = format!("{address}/24").parse().unwrap();
            let config = Config {
                usage: usage.clone(),
                ..Config::new(key, role, vec![address])
            };
            let tunnel = namespace.run(|| Tunnel::open(config)).unwrap();
            let control = tunnel.control();
            running.push(std::thread::spawn(|| tunnel.run().unwrap()));
            control
        };
        let relay = open(namespaces[0], relay, listen, RELAY);
        let client = open(namespaces[1], van, dial, CLIENT);
        Ends {
            relay,
            client,
            running,
        }
    }

    fn close(self) {
        self.client.stop();
        self.relay.stop();
        for running in self.running {
            running.join().unwrap();
        }
    }
}

fn parsed(links: &[String]) -> Vec<Link> {
    links.iter().map(|link| link.parse().unwrap()).collect()
}

fn link(end: &Control, number: usize) -> Option<PeerLink> {
    let peers = end.status().peers;
    peers.first()?.links.get(number).cloned()
}

fn is_on_standby(end: &Control, number: usize) -> bool {
    link(end, number).is_some_and(|link| link.sent.terms.standby)
}

fn is_heard(end: &Control, number: usize) -> bool {
    link(end, number).is_some_and(|link| link.sent.smoothed_round_trip.is_some())
}

fn carried(end: &Control, number: usize) -> u64 {
    link(end, number).map_or(0, |link| link.sent.bytes + link.received.bytes)
}

/// Echoes datagrams at the relay's end of the tunnel, and sends them from the client's.
struct Echo {
    socket: UdpSocket,
}

impl Echo {
    fn new(network: &TwoPaths) -> Echo {
        let echo = network
            .relay
            .run(|| UdpSocket::bind((RELAY, 5002)).unwrap());
        std::thread::spawn(move || {
            let mut buffer = [0; 2000];
            while let Ok((len, from)) = echo.recv_from(&mut buffer) {
                if len == 0 {
                    return;
                }
                let _ = echo.send_to(&buffer[..len], from);
            }
        });
        let socket = network.client.run(|| UdpSocket::bind((CLIENT, 0)).unwrap());
        socket.connect((RELAY, 5002)).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_millis(5)))
            .unwrap();
        Echo { socket }
    }

    /// Sends for `time`; returns the longest gap between replies.
    fn run_for(&self, time: Duration) -> Duration {
        let end = Instant::now() + time;
        let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
        while Instant::now() < end {
            let _ = self.socket.send(&[1; 400]);
            if self.socket.recv(&mut [0; 2000]).is_ok() {
                longest = longest.max(last.elapsed());
                last = Instant::now();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        longest.max(last.elapsed())
    }

    /// As [`run_for`](Echo::run_for), until a condition holds.
    fn run_until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        until(what, || {
            self.run_for(Duration::from_millis(20));
            is_so()
        });
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.socket.send(&[]);
    }
}

#[test]
fn a_backup_is_silent_until_the_primary_dies_and_when_it_is_back() {
    if skipped() {
        return;
    }
    let network = TwoPaths::new();
    let at = format!("{RELAY_AT}:4434").parse().unwrap();
    let links = ["wifi=eth1", "lte=eth2,rank=backup", "old=eth2,rank=never"].map(str::to_owned);
    let ends = Ends::open(
        [&network.relay, &network.client],
        at,
        &links,
        UsageStore::default(),
    );
    until("the tunnel is open", || is_heard(&ends.client, 0));
    let echo = Echo::new(&network);
    echo.run_for(Duration::from_millis(1500));
    for number in [1, 2] {
        assert_eq!(carried(&ends.client, number), 0);
    }
    network.set_blackhole(true);
    let gap = echo.run_for(Duration::from_secs(3));
    println!("the primary died: nothing came for {gap:?}");
    assert!(carried(&ends.client, 1) > 0);
    assert!(!is_on_standby(&ends.client, 1) && !is_on_standby(&ends.relay, 1));
    network.set_blackhole(false);
    let began = Instant::now();
    echo.run_until("both ends have left the backup", || {
        is_on_standby(&ends.client, 1) && is_on_standby(&ends.relay, 1)
    });
    println!(
        "the primary was back: the backup was left after {:?}",
        began.elapsed()
    );
    let before = carried(&ends.client, 1);
    echo.run_for(Duration::from_millis(1500));
    assert_eq!(carried(&ends.client, 1), before);
    assert_eq!(carried(&ends.client, 2), 0);
    let links = ["wifi=eth1,rank=backup", "lte=eth2", "old=eth2,rank=never"].map(str::to_owned);
    ends.client.reload(Reload::Links(parsed(&links)));
    echo.run_until("the links have changed places", || {
        let places = [0, 1].map(|number| is_on_standby(&ends.relay, number));
        places == [true, false]
    });
    drop(echo);
    ends.close();
}

#[test]
fn a_tunnel_begins_over_a_backup_and_a_new_relay_hears_of_standby() {
    if skipped() {
        return;
    }
    let network = TwoPaths::new();
    network.set_blackhole(true);
    let at: SocketAddr = format!("{RELAY_AT}:4434").parse().unwrap();
    let links = ["wifi=eth1", "lte=eth2,rank=backup"].map(str::to_owned);
    let ends = Ends::open(
        [&network.relay, &network.client],
        at,
        &links,
        UsageStore::default(),
    );
    until("the backup carries the handshake", || {
        is_heard(&ends.client, 1)
    });
    network.set_blackhole(false);
    let echo = Echo::new(&network);
    echo.run_until("both ends have left the backup", || {
        is_on_standby(&ends.client, 1) && is_on_standby(&ends.relay, 1)
    });
    drop(echo);
    ends.close();
}

fn download(testbed: &Testbed, bytes: usize) {
    let listener = testbed
        .server
        .run(|| TcpListener::bind("0.0.0.0:5001").unwrap());
    let sending = std::thread::spawn(move || {
        use std::io::Write;
        let (mut stream, _) = listener.accept().unwrap();
        use_congestion_control(&stream, "cubic");
        stream.write_all(&vec![1; bytes]).unwrap();
    });
    let mut stream = testbed
        .client
        .run(|| connect(Duration::from_secs(20)))
        .unwrap();
    let mut came = Vec::new();
    stream.read_to_end(&mut came).unwrap();
    assert_eq!(came.len(), bytes);
    sending.join().unwrap();
}

#[test]
fn a_quota_is_kept_and_outlives_the_tunnel() {
    if skipped() {
        return;
    }
    const QUOTA: u64 = 1_000_000;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("quota.json");
    let (testbed, emulator) = network();
    let place = |path: usize| -> IpAddr { testbed.plan.paths[path].client[0] };
    let links = [
        format!("fast={}", place(0)),
        format!("slow={},quota=1MB,at_cap=stop", place(1)),
    ];
    let at = SocketAddr::new(testbed.plan.server, 4434);
    let mut used = Vec::new();
    for round in 0..2 {
        let usage = UsageStore::open(file.clone());
        let ends = Ends::open(
            [&testbed.server, &testbed.client],
            at,
            &links,
            usage.clone(),
        );
        until("the tunnel is open", || is_heard(&ends.client, 0));
        if round == 0 {
            until("both links are heard", || is_heard(&ends.client, 1));
        }
        download(&testbed, 6_000_000);
        until("the quota is gone", || is_on_standby(&ends.client, 1));
        let status = link(&ends.client, 1).unwrap().quota.unwrap();
        assert_eq!(status.left.unwrap().as_u64(), 0);
        ends.close();
        let slow: Link = links[1].parse().unwrap();
        used.push(usage.status(&slow).unwrap().used.as_u64());
        usage.save();
    }
    println!("{used:?} of {QUOTA}");
    // 10 Mbit/s for the 50 ms between two counts, the round trip, and the link's queue.
    let most = QUOTA + 10_000_000 / 8 * (50 + 70 + 60) / 1000;
    assert!((QUOTA..most).contains(&used[0]), "{used:?}");
    assert_eq!(used[0], used[1]);
    emulator.stop().unwrap();
}
