//! Rejection of a stranger's and of replayed datagrams by a relay.

use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_gateway::keys::{Clients, SecretKey};
use ropewalk_gateway::tunnel::{Config, Control, Refusal, Role, Tunnel};
use ropewalk_testbed::Namespace;

use super::skipped;

const RELAY: &str = "127.0.0.1:4434";
const MIDDLE: &str = "127.0.0.1:4435";
/// First bytes of datagrams: a hello, and one of a session.
const HELLO: u8 = 1;
const SESSION: u8 = 4;

fn open(namespace: &Namespace, config: Config) -> (Control, thread::JoinHandle<()>) {
    let tunnel = namespace.run(|| Tunnel::open(config)).unwrap();
    let control = tunnel.control();
    (control, thread::spawn(|| tunnel.run().unwrap()))
}

/// Forwards datagrams between a client and the relay, and records the client's.
fn listen_in(namespace: &Namespace) -> Arc<Mutex<Vec<Vec<u8>>>> {
    let socket = namespace.run(|| UdpSocket::bind(MIDDLE)).unwrap();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let keep = heard.clone();
    thread::spawn(move || {
        let relay: SocketAddr = RELAY.parse().unwrap();
        let mut client = relay;
        let mut buffer = [0; 65_536];
        while let Ok((len, from)) = socket.recv_from(&mut buffer) {
            let to = if from == relay {
                client
            } else {
                client = from;
                keep.lock().unwrap().push(buffer[..len].to_vec());
                relay
            };
            let _ = socket.send_to(&buffer[..len], to);
        }
    });
    heard
}

pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn invalid_datagrams_are_refused_and_counted() {
    if skipped() {
        return;
    }
    let namespace = Namespace::create("loopback").unwrap();
    let up = namespace.run(|| {
        Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status()
    });
    assert!(up.unwrap().success());
    let (relay, van) = (SecretKey::generate(), SecretKey::generate());
    let (relay_key, van_key) = (relay.public(), van.public());
    let role = Role::Listen {
        at: RELAY.parse().unwrap(),
        clients: Clients::of_one("van", van_key, vec!["10.199.0.2".parse().unwrap()]),
    };
    let address = |text: &str| vec![text.parse().unwrap()];
    let config = Config::new(relay, role, address("10.199.0.1/24"));
    let (relay, relay_runs) = open(&namespace, config);
    let heard = listen_in(&namespace);
    let role = Role::Dial {
        relays: vec![MIDDLE.parse().unwrap()],
        key: relay_key,
        links: vec!["lo=127.0.0.1".parse().unwrap()],
    };
    let config = Config::new(van, role, address("10.199.0.2/24"));
    let (van, van_runs) = open(&namespace, config);
    let is_open = || relay.status().peers.iter().any(|peer| peer.open);
    until("the client comes in", is_open);

    let heard = |kind: u8| {
        let heard = heard.lock().unwrap();
        heard.iter().find(|datagram| datagram[0] == kind).cloned()
    };
    let hello = heard(HELLO).unwrap();
    let session = heard(SESSION).unwrap();
    let changed = |datagram: &[u8], at: usize| {
        let mut datagram = datagram.to_vec();
        datagram[at] ^= 1;
        datagram
    };
    let mut long = changed(&session, 7);
    long.resize(60_000, 1);
    // The kernel drops these. The last one lacks the prefix of the relay's sessions.
    let dropped = [
        vec![SESSION; 5],
        vec![9; 100],
        vec![HELLO; 10],
        changed(&session, 3),
    ];
    let sent = [
        // A byte of the session's number, then of the sequence.
        (changed(&session, 5), Refusal::UnknownSession),
        (changed(&session, 7), Refusal::Forged),
        (long, Refusal::Forged),
        (session, Refusal::Replayed),
        (changed(&hello, 60), Refusal::WrongKey),
        (hello, Refusal::ReplayedHandshake),
    ];
    let stranger = namespace.run(|| UdpSocket::bind("127.0.0.1:0")).unwrap();
    stranger.set_nonblocking(true).unwrap();
    for datagram in dropped {
        stranger.send_to(&datagram, RELAY).unwrap();
    }
    for (number, (datagram, why)) in sent.iter().enumerate() {
        stranger.send_to(datagram, RELAY).unwrap();
        let same = sent[..=number].iter().filter(|(_, other)| other == why);
        let expected = same.count() as u64;
        let what = format!("{number}: {why:?}, {:?}", relay.status().refused);
        until(&what, || relay.status().refused.of(*why) >= expected);
    }
    let answer = stranger.recv_from(&mut [0; 2048]);
    assert!(answer.is_err(), "a stranger got an answer");
    let status = relay.status();
    assert_eq!(status.refused.of(Refusal::Malformed), 0);
    assert_eq!(status.refused.of(Refusal::UnknownSession), 1);
    assert_eq!(status.peers.len(), 1);
    assert!(status.peers[0].open && van.status().peers[0].open);
    for (control, runs) in [(relay, relay_runs), (van, van_runs)] {
        control.stop();
        runs.join().unwrap();
    }
}
