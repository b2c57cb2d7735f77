//! Refusals, and their messages.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_gateway::keys::{PublicKey, SecretKey, read_secret_key};
use ropewalk_gateway::noise::{ANSWER_LEN, Initiator, Purpose};

use crate::gateways::{BINARY, Gateways, connect, echo, keygen, start_proxy, with_timeouts};
use crate::pair::Pair;
use crate::process::until;

#[test]
fn targets_outside_the_rules_are_refused() {
    let target = echo();
    let allowed = format!("127.0.0.1:{}", target.port());
    let gateways = Gateways::new(&["--allow", &allowed]);
    assert!(gateways.connect(target).is_ok());
    // RFC 1928: not allowed by ruleset.
    let other: SocketAddr = "127.0.0.1:1".parse().unwrap();
    assert_eq!(gateways.connect(other).err(), Some(2));
    assert_eq!(gateways.connect(other).err(), Some(2));
    let log = gateways.relay.log();
    assert_eq!(
        log.matches("not allowed by the relay's rules").count(),
        1,
        "{log}"
    );

    let gateways = Gateways::new(&["--allow", "loopback"]);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = nobody.local_addr().unwrap();
    drop(nobody);
    assert_eq!(gateways.connect(closed).err(), Some(5));
}

#[test]
fn strangers_are_refused_and_logged_once() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let folder = gateways.folder.path();
    keygen(folder, &["stranger"]);
    let stranger = start_proxy(folder, gateways.relay_at, "stranger");
    stranger.wait_for("link l2 (127.0.0.2): ");
    gateways.relay.wait_for("is not in the list of clients");
    // Closed without a byte.
    let strangers: Vec<_> = (0..20)
        .map(|_| {
            let mut socket = with_timeouts(TcpStream::connect(gateways.relay_at).unwrap());
            socket.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
            socket
        })
        .collect();
    for mut socket in strangers {
        let mut nothing = Vec::new();
        assert_eq!(socket.read_to_end(&mut nothing).ok(), Some(0));
    }
    let log = gateways.relay.log();
    assert_eq!(
        log.matches("127.0.0.1 refused: not Ropewalk's protocol")
            .count(),
        1,
        "{log}"
    );
    assert_eq!(log.matches("127.0.0.2 refused: key").count(), 1, "{log}");
    assert!(gateways.connect(echo()).is_ok());
}

/// Sends bytes; returns the number of received bytes, and how and after which time the connection ends.
fn probe(
    gateways: &Gateways,
    bytes: &[u8],
) -> thread::JoinHandle<(Result<Vec<u8>, ErrorKind>, Duration)> {
    let mut socket = with_timeouts(TcpStream::connect(gateways.relay_at).unwrap());
    let bytes = bytes.to_vec();
    thread::spawn(move || {
        let start = Instant::now();
        socket.write_all(&bytes).unwrap();
        let mut received = Vec::new();
        let ended = socket.read_to_end(&mut received);
        (
            ended.map(|_| received).map_err(|error| error.kind()),
            start.elapsed(),
        )
    })
}

#[test]
fn strangers_get_no_bytes_and_the_same_delay() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    assert!(gateways.connect(echo()).is_ok());
    let folder = gateways.folder.path();
    let secret = |name: &str| read_secret_key(&folder.join(name)).unwrap();
    let hello = |from: &SecretKey, to: PublicKey, purpose| {
        let (_, hello) = Initiator::new(purpose, from, &to, b"");
        [b"RPWK\x01\x01\x00\x60", &hello[..]].concat()
    };
    let (van, relay) = (secret("van.key"), secret("relay.key").public());
    let stranger = SecretKey::generate();
    // A hello that was answered before.
    let answered_hello = hello(&van, relay, Purpose::Carrier);
    let mut first = with_timeouts(TcpStream::connect(gateways.relay_at).unwrap());
    first.write_all(&answered_hello).unwrap();
    first.read_exact(&mut [0; 2 + ANSWER_LEN]).unwrap();
    drop(first);
    let with = |at: usize, byte: u8| {
        let mut bytes = answered_hello.clone();
        bytes[at] = byte;
        bytes
    };
    let message: [(&str, Vec<u8>); 12] = [
        ("nothing", vec![]),
        ("another protocol", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("another magic", with(0, b'X')),
        ("another version", with(4, 2)),
        ("in the clear", with(5, 0)),
        ("a length that there is not", with(6, 0xff)),
        ("a part", answered_hello[..50].to_vec()),
        ("more", [&answered_hello[..], &[0; 100_000]].concat()),
        ("a key of nobody", hello(&stranger, relay, Purpose::Carrier)),
        (
            "for another key",
            hello(&van, stranger.public(), Purpose::Carrier),
        ),
        ("for another purpose", hello(&van, relay, Purpose::Tunnel)),
        ("again", answered_hello.clone()),
    ];
    let probes = message.map(|(what, bytes)| (what, probe(&gateways, &bytes)));
    for (what, received) in probes {
        let (received, after) = received.join().unwrap();
        assert_eq!(received, Ok(Vec::new()), "{what}");
        // Not at once; the upper limit has a margin for a busy machine.
        let range = Duration::from_secs(4)..Duration::from_secs(30);
        assert!(range.contains(&after), "{what}: {after:?}");
        println!("{what}: no byte, closed after {:.1} s", after.as_secs_f64());
    }
    gateways.relay.wait_for("a repeated handshake");
    assert!(gateways.connect(echo()).is_ok());
}

#[test]
fn half_open_carrier_flood_leaves_clients_connected() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let target = echo();
    assert!(gateways.connect(target).is_ok());
    let flood: Vec<TcpStream> = (0..200)
        .map(|_| TcpStream::connect(gateways.relay_at).unwrap())
        .collect();
    gateways.relay.wait_for("too many handshakes in progress");
    // Another source, and another link's carrier, are accepted meanwhile.
    assert!(gateways.forwarder.cut(0) > 0);
    gateways.proxy.wait_for("link l2: down");
    assert!(gateways.connect(target).is_ok());
    drop(flood);
}

#[test]
fn wrong_input_is_one_line_and_exits_with_2() {
    let run = |arguments: &[&str]| {
        let output = Command::new(BINARY).args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_eq!(text.lines().count(), 1, "{text}");
        text
    };
    let proxy = ["proxy", "--plaintext", "--relay", "127.0.0.1:1", "--link"];
    let with = |link| run(&[&proxy[..], &[link]].concat());
    assert!(with("eth0").contains("allowed: NAME=INTERFACE"));
    assert!(with("a=eth0").contains("allowed: a loopback address, or --plaintext-anywhere"));
    let relay = run(&["relay", "--plaintext", "--listen", "0.0.0.0:0"]);
    assert!(relay.contains("allowed: a loopback address, or --plaintext-anywhere"));
    assert!(run(&["relay", "--plaintext", "--allow", "all"]).contains("allowed: public"));
    assert!(run(&["relay"]).contains("--key"));
    assert!(run(&["relay", "--key", "no-such-file", "--clients", "x"]).contains("no-such-file"));
}

#[test]
fn sigterm_ends_both_orderly() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let mut open = gateways.connect(echo()).unwrap();
    gateways.relay.wait_for("van: connected");
    assert_eq!(gateways.proxy.terminate().code(), Some(0));
    gateways.relay.wait_for("van: ended with code 0x0");
    assert!(!matches!(open.read(&mut [0]), Ok(1..)));
    assert_eq!(gateways.relay.terminate().code(), Some(0));
}

#[test]
fn status_on_a_non_loopback_address_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    keygen(folder.path(), &["van"]);
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (secret, public) = (file("van.key"), file("van.pub"));
    let relay = ["--relay", "127.0.0.1:9", "--relay-key", &public];
    let proxy = ["proxy", "--key", &secret, "--link", "l=127.0.0.1"];
    let listen = ["--listen", "127.0.0.1:0", "--status", "0.0.0.0:0"];
    let arguments = [&proxy[..], &relay[..], &listen[..]].concat();
    let output = Command::new(BINARY).args(arguments).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("0.0.0.0:0 is not a loopback address"),
        "{message}"
    );
    assert_eq!(output.status.code(), Some(2), "{message}");
}

#[test]
fn completion_scripts_have_subcommands_and_options() {
    for shell in ["bash", "fish", "zsh"] {
        let output = Command::new(BINARY).args(["completion", shell]).output();
        let script = String::from_utf8(output.unwrap().stdout).unwrap();
        for word in ["ropewalk-gateway", "proxy", "relay-key"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
}

#[test]
fn connections_above_the_limit_are_reset_and_logged_once() {
    let pair = Pair::new("--allow loopback", "--connections 2");
    let target = echo();
    let [first, _second] = [(); 2].map(|()| connect(pair.proxy_at, target).unwrap());
    for _ in 0..5 {
        // The reset may arrive before connect() returns.
        let end = TcpStream::connect(pair.proxy_at)
            .and_then(|refused| with_timeouts(refused).read(&mut [0]))
            .map_err(|error| error.kind());
        assert_eq!(end, Err(ErrorKind::ConnectionReset));
    }
    let [_, proxy] = &pair.ends;
    let line = "127.0.0.1 refused: as many connections as --connections allows are open";
    proxy.wait_for(line);
    assert_eq!(proxy.log().matches("--connections").count(), 1);
    // One that ends frees a place for another.
    drop(first);
    until("another connection is served", || {
        let Ok(next) = TcpStream::connect(pair.proxy_at) else {
            return false;
        };
        let mut next = with_timeouts(next);
        let _ = next.write_all(b"\x05\x01\x00");
        next.read(&mut [0; 2]).is_ok_and(|len| len > 0)
    });
}
