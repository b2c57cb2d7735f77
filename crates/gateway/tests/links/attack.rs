//! A tunnel under attack.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_gateway::keys::SecretKey;
use ropewalk_wire::gateway::tunnel::TunnelFrame;

use crate::adversary::{self, Client, Session, forge, random, raw_socket};
use crate::network::{INNER, Namespace, Network, RELAY, with_links};
use crate::process::TIMEOUT;

fn relay_at() -> SocketAddrV4 {
    SocketAddrV4::new(RELAY.parse().unwrap(), 4434)
}

/// A session of an adversary that has the key of the client `van`.
fn adversary(network: &Network) -> Session {
    network.adversary(socket(network, "0.0.0.0:0"))
}

fn socket(network: &Network, at: &'static str) -> UdpSocket {
    let socket = network
        .client
        .in_thread(move || UdpSocket::bind(at).unwrap());
    let wait = Some(Duration::from_millis(500));
    socket.set_read_timeout(wait).unwrap();
    socket
}

/// Returns ports and drops of the UDP sockets of a namespace (/proc/net/udp, proc_net(5)).
fn udp_sockets(namespace: &Namespace) -> Vec<(u16, u64)> {
    let path = "/proc/thread-self/net/udp";
    let table = namespace.command("cat").arg(path).output().unwrap();
    let table = String::from_utf8(table.stdout).unwrap();
    let lines = table.lines().skip(1);
    lines
        .map(|line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let (_, port) = columns[1].split_once(':').unwrap();
            let port = u16::from_str_radix(port, 16).unwrap();
            (port, columns[12].parse().unwrap())
        })
        .collect()
}

/// Sends packets to an address in the tunnel, from behind the relay, until dropped.
struct InboundTraffic(Arc<AtomicBool>);

impl InboundTraffic {
    fn to(network: &Network, to: &'static str) -> InboundTraffic {
        let socket = network.relay.in_thread(|| UdpSocket::bind(INNER).unwrap());
        let ends = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&ends);
        thread::spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                let _ = socket.send_to(&[7; 1000], to);
                thread::sleep(Duration::from_millis(2));
            }
        });
        InboundTraffic(ends)
    }
}

impl Drop for InboundTraffic {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn has_packet(frames: &[u8]) -> bool {
    let mut frames = TunnelFrame::parse_all(frames);
    frames.any(|frame| {
        matches!(frame, Ok(TunnelFrame::Packet { bytes, .. }) if bytes.ends_with(&[7; 1000]))
    })
}

/// Receives until a packet of the traffic arrives, replying to pings.
fn until_packet(session: &mut Session) -> Duration {
    let begin = Instant::now();
    while begin.elapsed() < TIMEOUT {
        if let Some((link, frames)) = session.receive() {
            session.reply(link, &frames);
            if has_packet(&frames) {
                return begin.elapsed();
            }
        } else {
            // Keeps the link alive at the relay.
            session.send(0, &[TunnelFrame::Ping(1)]);
        }
    }
    panic!("no packet arrives");
}

#[test]
fn two_adversaries_agree_on_a_session() {
    let [client, relay] = [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]));
    let [client_socket, relay_socket] = [0, 1].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    let at = relay_socket.local_addr().unwrap();
    let client = Client::new(client, relay.public(), &["10.9.0.2"]);
    let accepted = thread::spawn(move || adversary::accept(relay_socket, &relay));
    let mut session = client.connect(client_socket, at);
    let accepted = accepted.join().unwrap();
    session.send(3, &[TunnelFrame::Ping(7)]);
    assert_eq!(accepted.receive(), Some((3, vec![3, 0, 0, 0, 7])));
}

#[test]
fn forged_source_gets_no_traffic() {
    let Some(network) = with_links(1) else { return };
    network.client.sh("ip addr add 10.71.1.99/24 dev link1");
    let _relay = network.start_relay();
    let mut session = adversary(&network);
    session.until_answered(0);
    let _traffic = InboundTraffic::to(&network, "10.9.0.2:9");
    until_packet(&mut session);
    // An attacker on the path repeats the client's datagram from another address before the original arrives.
    let third_party = socket(&network, "10.71.1.99:9999");
    let mut encoded = Vec::new();
    TunnelFrame::Ping(1).emit(&mut encoded);
    let datagram = session.seal(0, &encoded);
    third_party.send_to(&datagram, relay_at()).unwrap();
    session.socket.send_to(&datagram, relay_at()).unwrap();
    for _ in 0..20 {
        until_packet(&mut session);
    }
    let mut received = 0;
    let wait = Some(Duration::from_millis(100));
    third_party.set_read_timeout(wait).unwrap();
    while let Ok(len) = third_party.recv(&mut [0; 2048]) {
        received += len + 28;
    }
    let sent = datagram.len() + 28;
    println!("{received} bytes for {sent} with a forged source");
    assert!(received > 0, "the address was not probed");
    assert!(received <= 3 * sent, "{received} bytes for {sent}");
}

#[test]
fn client_is_followed_to_a_new_port() {
    let Some(network) = with_links(1) else { return };
    let _relay = network.start_relay();
    let mut session = adversary(&network);
    session.until_answered(0);
    let _traffic = InboundTraffic::to(&network, "10.9.0.2:9");
    until_packet(&mut session);
    session.socket = socket(&network, "0.0.0.0:0");
    session.send(0, &[TunnelFrame::Ping(1)]);
    let took = until_packet(&mut session);
    println!("from another port: {} ms", took.as_millis());
}

#[test]
fn flood_of_foreign_datagrams_is_dropped_by_the_kernel() {
    let Some(network) = with_links(1) else { return };
    let relay = network.start_relay();
    let mut session = adversary(&network);
    session.until_answered(0);
    let before: u64 = udp_sockets(&network.relay)
        .iter()
        .map(|(_, drops)| drops)
        .sum();
    let raw = network.client.in_thread(raw_socket);
    const EACH: u16 = 500;
    for number in 0..EACH {
        let [a, b] = number.to_be_bytes();
        let from = SocketAddrV4::new(Ipv4Addr::new(198, 18, a, b), 1024 + number);
        let mut session = random::<100>();
        session[..2].copy_from_slice(&[4, 0]);
        for payload in [&[9][..], &[9; 100], &[1; 165], &[2; 74], &[3; 58], &session] {
            forge(&raw, from, relay_at(), payload);
        }
    }
    session.until_answered(0);
    let sockets = udp_sockets(&network.relay);
    let dropped = sockets.iter().map(|(_, drops)| drops).sum::<u64>() - before;
    println!("{dropped} of {} dropped: {sockets:?}", 6 * EACH);
    assert!(dropped >= u64::from(6 * EACH) * 9 / 10);
    assert!(!relay.log().contains("refused"), "{}", relay.log());
}

#[test]
fn flood_of_hellos_is_logged_in_few_lines() {
    let Some(network) = with_links(1) else { return };
    let relay = network.start_relay();
    let mut session = adversary(&network);
    let raw = network.client.in_thread(raw_socket);
    for number in 0..2000_u16 {
        let [a, b] = number.to_be_bytes();
        let from = SocketAddrV4::new(Ipv4Addr::new(198, 18, a, b), 1024 + number);
        let mut hello = random::<166>();
        hello[0] = 1;
        forge(&raw, from, relay_at(), &hello);
    }
    session.until_answered(0);
    relay.wait_for("there are many such sources");
    assert!(relay.log().lines().count() < 40, "{}", relay.log());
}

#[test]
fn forged_cookies_and_answers_change_nothing_for_a_client() {
    let Some(network) = with_links(1) else { return };
    let _client = network.start_client(RELAY, "--link one=link1");
    // At first no relay answers.
    let silent = network
        .relay
        .in_thread(|| UdpSocket::bind((RELAY, 4434)).unwrap());
    silent.set_read_timeout(Some(TIMEOUT)).unwrap();
    let (_, from) = silent.recv_from(&mut [0; 512]).unwrap();
    let SocketAddr::V4(client) = from else {
        panic!("{from}");
    };
    let raw = network.relay.in_thread(raw_socket);
    let ends = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&ends);
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let attacker = thread::spawn(move || {
        while !flag.load(Ordering::Relaxed) {
            counter.fetch_add(1, Ordering::Relaxed);
            let mut forged = random::<74>();
            // A cookie of the present length, one of the length before authentication, and an answer.
            for (kind, len) in [(3, 58), (3, 18), (2, 74)] {
                forged[..2].copy_from_slice(&[kind, 0]);
                forge(&raw, relay_at(), client, &forged[..len]);
            }
            thread::sleep(Duration::from_millis(1));
        }
    });
    let begin = Instant::now();
    while sent.load(Ordering::Relaxed) < 1000 {
        thread::sleep(Duration::from_millis(5));
    }
    silent.set_nonblocking(true).unwrap();
    let hellos = std::iter::from_fn(|| silent.recv(&mut [0; 512]).ok()).count();
    let most = 3 + 2 * begin.elapsed().as_secs_f64() as usize;
    println!("{hellos} hellos for 1000 forged cookies");
    assert!(hellos <= most, "{hellos} hellos, not {most} at the most");
    drop(silent);
    let _relay = network.start_relay();
    network.start_echo();
    let took = network.until_echo();
    println!("under forged cookies and answers: {} ms", took.as_millis());
    ends.store(true, Ordering::Relaxed);
    attacker.join().unwrap();
}
