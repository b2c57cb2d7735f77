//! A proxy whose links do not reach its relay: the cause in the log, in the status and in the answers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::Command;

use crate::gateways::{BINARY, Gateway, connect, keygen, start_relay, status};

/// A proxy of the client `van` with one link.
fn start(folder: &Path, relay: &str, relay_key: &str) -> Gateway {
    let at = folder.display();
    Gateway::start_words(&format!(
        "proxy --listen 127.0.0.1:0 --relay {relay} --key {at}/van.key --relay-key {at}/{relay_key} \
         --link wifi=127.0.0.2 --control {at}/proxy.sock"
    ))
}

fn keys(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    keygen(folder.path(), names);
    folder
}

/// Asserts that the log, the status and the answer to a program have the cause.
fn shows(folder: &Path, proxy: &Gateway, kind: &str, cause: &str) {
    let at: SocketAddr = proxy.wait_for("proxy listens on ").parse().unwrap();
    proxy.wait_for(cause);
    let answer = connect(at, "192.0.2.1:80".parse().unwrap()).unwrap_err();
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    let field = format!("Proxy-Status: ropewalk; error={kind}; details=\"link wifi: ");
    assert!(answer.contains(&field), "{answer}");
    assert!(answer.contains(cause), "{answer}");
    let status = status(folder, "proxy.sock").to_string();
    assert!(
        status.contains("\"reason\":") && status.contains(cause),
        "{status}"
    );
}

const UNAVAILABLE: &str = "destination_unavailable";

#[test]
fn relay_that_lacks_the_key_is_reported_as_silent() {
    let folder = keys(&["relay", "van", "bus"]);
    let folder = folder.path();
    // The relay knows only `van.pub`, which now belongs to another key.
    std::fs::copy(folder.join("van.pub"), folder.join("own.pub")).unwrap();
    std::fs::copy(folder.join("bus.pub"), folder.join("van.pub")).unwrap();
    let relay = start_relay(folder, "127.0.0.1:0", &["--allow", "public"]);
    let at = relay.wait_for("relay listens on ");
    let proxy = start(folder, &at, "relay.pub");
    shows(folder, &proxy, UNAVAILABLE, "does not answer the handshake");
    assert!(proxy.log().contains("list of clients lacks this key"));
}

#[test]
fn key_of_another_relay_is_reported_as_silent() {
    let folder = keys(&["relay", "van", "other"]);
    let folder = folder.path();
    let relay = start_relay(folder, "127.0.0.1:0", &["--allow", "public"]);
    let at = relay.wait_for("relay listens on ");
    let proxy = start(folder, &at, "other.pub");
    shows(folder, &proxy, UNAVAILABLE, "does not answer the handshake");
    assert!(proxy.log().contains("--relay-key is another relay's key"));
}

#[test]
fn name_that_does_not_resolve_is_reported() {
    let folder = keys(&["relay", "van"]);
    let folder = folder.path();
    let proxy = start(folder, "relay.invalid:4433", "relay.pub");
    let cause = "--relay relay.invalid:4433: the name does not resolve: ";
    shows(folder, &proxy, UNAVAILABLE, cause);
}

#[test]
fn closed_port_is_reported_as_refused() {
    let folder = keys(&["relay", "van"]);
    let folder = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    drop(listener);
    let proxy = start(folder, &at.to_string(), "relay.pub");
    shows(
        folder,
        &proxy,
        UNAVAILABLE,
        &format!("{at}: Connection refused"),
    );
}

#[test]
fn other_service_is_reported_as_closing() {
    let folder = keys(&["relay", "van"]);
    let folder = folder.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let proxy = start(folder, &at, "relay.pub");
    let cause = "closes the connection before it answers the handshake";
    shows(folder, &proxy, UNAVAILABLE, cause);
}

/// A service that answers each connection with these bytes, and closes it.
fn service(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let _ = socket.read(&mut [0; 1024]);
            let _ = socket.write_all(answer);
        }
    });
    at
}

const PORTAL: &[u8] = b"HTTP/1.1 302 Found\r\nLocation: http://portal.example/\r\n\r\n";

#[test]
fn answer_of_another_protocol_is_reported_by_its_name() {
    let folder = keys(&["relay", "van"]);
    let folder = folder.path();
    for (answer, name) in [
        (PORTAL, "HTTP (a captive portal?)"),
        (b"\x15\x03\x01\x00\x02\x02\x46", "TLS"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "SSH"),
    ] {
        let at = service(answer);
        let proxy = start(folder, &at, "relay.pub");
        let cause = format!("{at}: the answer is not a relay's: {name}");
        shows(folder, &proxy, UNAVAILABLE, &cause);
    }
}

#[test]
fn measurement_reports_why_the_relay_is_not_reached() {
    let folder = keys(&["relay", "van"]);
    let at = service(PORTAL);
    let words = format!(
        "measure --link wifi=127.0.0.2 --relay {at} --log off --key van.key --relay-key relay.pub"
    );
    let mut measure = Command::new(BINARY);
    measure.args(words.split_whitespace()).current_dir(&folder);
    let output = measure.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    let cause = format!("link wifi: the relay was not reached in 8 s: {at}: the answer is not");
    assert!(message.contains(&cause), "{message}");
}
