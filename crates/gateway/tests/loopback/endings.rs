//! Errors seen by programs and targets when a gateway is killed or unreachable.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Instant;

use crate::gateways::{Gateways, echo, with_timeouts};
use crate::process::{BINARY, Gateway};

#[test]
fn killed_proxy_resets_its_programs() {
    let mut gateways = Gateways::new(&["--allow", "loopback"]);
    let mut socket = gateways.connect(echo()).unwrap();
    socket.write_all(b"hello").unwrap();
    socket.read_exact(&mut [0; 5]).unwrap();
    gateways.proxy.kill();
    let end = socket.read(&mut [0; 16]).map_err(|error| error.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
}

#[test]
fn killed_relay_resets_its_targets() {
    let mut gateways = Gateways::new(&["--allow", "loopback"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let accepted = thread::spawn(move || with_timeouts(listener.accept().unwrap().0));
    let mut socket = gateways.connect(target).unwrap();
    let mut accepted = accepted.join().unwrap();
    socket.write_all(b"hello").unwrap();
    accepted.read_exact(&mut [0; 5]).unwrap();
    gateways.relay.kill();
    let end = accepted.read(&mut [0; 16]).map_err(|error| error.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
}

#[test]
fn orderly_end_is_passed_on() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let mut socket = gateways.connect(echo()).unwrap();
    socket.write_all(b"hello").unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
}

#[test]
fn connection_without_relay_fails_in_time() {
    let mut gateways = Gateways::new(&["--allow", "loopback"]);
    gateways.connect(echo()).unwrap();
    // A link that was never up does not go down.
    gateways.proxy.wait_for("link l2: up");
    gateways.proxy.wait_for("link l3: up");
    gateways.relay.kill();
    gateways.proxy.wait_for("link l2: down");
    gateways.proxy.wait_for("link l3: down");
    let begin = Instant::now();
    // The test's links accept the connection and close it. RFC 1928: general failure.
    assert_eq!(gateways.connect(echo()).err(), Some(1));
    println!("after {} ms", begin.elapsed().as_millis());
}

#[test]
fn proxy_without_links_does_not_start() {
    let begin = Instant::now();
    let done = Command::new(BINARY)
        .args(["proxy", "--plaintext", "--plaintext-anywhere"])
        .args(["--relay", "127.0.0.1:9", "--listen", "127.0.0.1:0"])
        .args(["--link", "wifi=no-such-device", "--link", "lte=192.0.2.1"])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&done.stderr);
    println!("after {} ms: {message}", begin.elapsed().as_millis());
    assert_eq!(done.status.code(), Some(1), "{message}");
    assert!(
        message.contains("no link is up: link wifi (no-such-device)"),
        "{message}"
    );
    assert!(
        message.contains("link lte (192.0.2.1): Cannot assign"),
        "{message}"
    );
}

#[test]
fn relay_name_is_tried_in_both_families() {
    let folder = tempfile::tempdir().unwrap();
    let control = |name: &str| folder.path().join(name).display().to_string();
    let relay = Gateway::start_words(&format!(
        "relay --plaintext --listen 127.0.0.1:0 --control {}",
        control("relay")
    ));
    let at = relay.wait_for("relay listens on ");
    // The name is ::1 first on most machines, where nobody listens.
    let name = at.replace("127.0.0.1", "localhost");
    let proxy = Gateway::start_words(&format!(
        "proxy --plaintext --plaintext-anywhere --relay {name} --link one=lo --listen 127.0.0.1:0 --control {}",
        control("proxy")
    ));
    let at = proxy.wait_for("proxy listens on ");
    proxy.wait_for("link one: up");
    TcpStream::connect(at).unwrap();
}
