//! Errors seen by programs and targets when a gateway is killed or unreachable.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Instant;

use crate::process::{BINARY, Gateway};
use crate::world::{World, echo, patient};

#[test]
fn a_proxy_that_is_killed_resets_its_programs() {
    let mut world = World::new(&["--allow", "loopback"]);
    let mut socket = world.connect(echo()).unwrap();
    socket.write_all(b"hello").unwrap();
    socket.read_exact(&mut [0; 5]).unwrap();
    world.proxy.kill();
    let end = socket.read(&mut [0; 16]).map_err(|error| error.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
}

#[test]
fn a_relay_that_is_killed_resets_its_targets() {
    let mut world = World::new(&["--allow", "loopback"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = listener.local_addr().unwrap();
    let accepted = thread::spawn(move || patient(listener.accept().unwrap().0));
    let mut socket = world.connect(target).unwrap();
    let mut accepted = accepted.join().unwrap();
    socket.write_all(b"hello").unwrap();
    accepted.read_exact(&mut [0; 5]).unwrap();
    world.relay.kill();
    let end = accepted.read(&mut [0; 16]).map_err(|error| error.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
}

#[test]
fn an_orderly_end_is_one_as_before() {
    let world = World::new(&["--allow", "loopback"]);
    let mut socket = world.connect(echo()).unwrap();
    socket.write_all(b"hello").unwrap();
    socket.shutdown(std::net::Shutdown::Write).unwrap();
    let mut text = String::new();
    socket.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
}

#[test]
fn without_a_relay_a_connection_fails_in_time() {
    let mut world = World::new(&["--allow", "loopback"]);
    world.connect(echo()).unwrap();
    // A link that was never up does not go down.
    world.proxy.wait_for("link l2: up");
    world.proxy.wait_for("link l3: up");
    world.relay.kill();
    world.proxy.wait_for("link l2: down");
    world.proxy.wait_for("link l3: down");
    let begin = Instant::now();
    // The test's links accept the connection and close it. RFC 1928: general failure.
    assert_eq!(world.connect(echo()).err(), Some(1));
    println!("after {} ms", begin.elapsed().as_millis());
}

#[test]
fn without_any_link_a_proxy_does_not_start() {
    let begin = Instant::now();
    let done = Command::new(BINARY)
        .args(["proxy", "--plaintext", "--plaintext-anywhere"])
        .args(["--relay", "127.0.0.1:9", "--listen", "127.0.0.1:0"])
        .args(["--link", "wifi=no-such-device", "--link", "lte=192.0.2.1"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    println!("after {} ms: {said}", begin.elapsed().as_millis());
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains("no link is there: link wifi (no-such-device)"),
        "{said}"
    );
    assert!(
        said.contains("link lte (192.0.2.1): Cannot assign"),
        "{said}"
    );
}

#[test]
fn a_relay_name_is_tried_in_both_families() {
    let folder = tempfile::tempdir().unwrap();
    let control = |name: &str| folder.path().join(name).display().to_string();
    let relay = Gateway::start(&[
        "relay",
        "--plaintext",
        "--listen",
        "127.0.0.1:0",
        "--control",
        &control("relay"),
    ]);
    let at = relay.wait_for("relay listens on ");
    // The name is ::1 first on most machines, where nobody listens.
    let name = at.replace("127.0.0.1", "localhost");
    let proxy = Gateway::start(&[
        "proxy",
        "--plaintext",
        "--plaintext-anywhere",
        "--relay",
        &name,
        "--link",
        "one=lo",
        "--listen",
        "127.0.0.1:0",
        "--control",
        &control("proxy"),
    ]);
    let at = proxy.wait_for("proxy listens on ");
    proxy.wait_for("link one: up");
    TcpStream::connect(at).unwrap();
}
