//! SIGHUP: each option that is read again takes effect for later connections or associations.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::gateways::{assert_echo, connect, echo, status};
use crate::process::{Gateway, until};

/// A relay without encryption with a configuration file, and proxies that use it.
struct Configured {
    folder: TempDir,
    relay: Gateway,
    relay_at: String,
}

impl Configured {
    fn new() -> Configured {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("relay.toml"), text(&folder, "")).unwrap();
        let file = folder.path().join("relay.toml").display().to_string();
        let relay = Gateway::start(&["relay", "--config", &file]);
        let relay_at = relay.wait_for("relay listens on ");
        Configured {
            folder,
            relay,
            relay_at,
        }
    }

    /// Replaces the options in the relay's file, and waits until it has read them.
    fn reload(&self, lines: &str) {
        let file = self.folder.path().join("relay.toml");
        fs::write(file, text(&self.folder, lines)).unwrap();
        let count = || self.relay.log().matches("reloaded: ").count();
        let before = count();
        self.relay.reload();
        until("the relay has read its file", || count() > before);
        assert!(!self.relay.log().contains("takes a restart"));
    }

    /// Starts a proxy with a new association; returns its address.
    fn proxy(&self, name: &str) -> (Gateway, SocketAddr) {
        let control = self.folder.path().join(name).display().to_string();
        let words = format!(
            "proxy --plaintext --relay {} --link l2=127.0.0.2 --listen 127.0.0.1:0 --control {control}",
            self.relay_at
        );
        let proxy = Gateway::start_words(&words);
        let at = proxy.wait_for("proxy listens on ").parse().unwrap();
        (proxy, at)
    }

    fn associations(&self) -> Vec<Value> {
        let document = status(self.folder.path(), "relay.sock");
        let mut associations = document["associations"].as_array().unwrap().clone();
        let age = |association: &Value| association["age_s"].as_f64().unwrap();
        associations.sort_by(|one, other| age(other).total_cmp(&age(one)));
        associations
    }
}

fn text(folder: &TempDir, lines: &str) -> String {
    let allow = match lines.contains("allow") {
        true => "",
        false => "allow = [\"loopback\"]\n",
    };
    format!(
        "plaintext = true\nlisten = [\"127.0.0.1:0\"]\ncontrol = {:?}\n{allow}{lines}",
        folder.path().join("relay.sock")
    )
}

fn refusal(proxy: SocketAddr, target: SocketAddr) -> String {
    let refused = connect(proxy, target).err().unwrap_or_default();
    refused.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn relay_reload_applies_deny_and_streams() {
    let configured = Configured::new();
    let (_proxy, at) = configured.proxy("van");
    let (target, other) = (echo(), echo());
    let mut kept = connect(at, target).unwrap();
    assert_echo(&mut kept);
    configured.reload(&format!("deny = [\"127.0.0.1:{}\"]\n", target.port()));
    assert_eq!(refusal(at, target), "HTTP/1.1 403 Forbidden");
    assert!(connect(at, other).is_ok());
    assert_echo(&mut kept);
    configured.reload("streams = 1\n");
    // The other connection has been closed, which the relay may not know yet.
    until("no stream is left", || {
        refusal(at, target) == "HTTP/1.1 503 Service Unavailable"
    });
    assert_echo(&mut kept);
    configured.reload("");
    until("streams are opened again", || connect(at, target).is_ok());
    assert_echo(&mut kept);
}

#[test]
fn relay_reload_applies_associations() {
    let configured = Configured::new();
    let (first, at) = configured.proxy("van");
    first.wait_for("link l2: up");
    configured.reload("associations = 1\n");
    let (second, _) = configured.proxy("bus");
    let mut kept = connect(at, echo()).unwrap();
    assert_echo(&mut kept);
    thread::sleep(Duration::from_millis(500));
    assert!(!second.log().contains("link l2: up"), "{}", second.log());
    assert_eq!(configured.associations().len(), 1);
    configured.reload("associations = 2\n");
    second.wait_for("link l2: up");
    assert_echo(&mut kept);
    assert_eq!(configured.associations().len(), 2);
}

#[test]
fn relay_reload_applies_memory_and_congestion_to_new_associations() {
    let configured = Configured::new();
    let (first, _) = configured.proxy("van");
    first.wait_for("link l2: up");
    configured.reload("memory = \"2MiB\"\ncongestion = \"reno\"\n");
    let (second, _) = configured.proxy("bus");
    second.wait_for("link l2: up");
    let associations = configured.associations();
    let [old, new] = &associations[..] else {
        panic!("{associations:#?}")
    };
    let bound = |of: &Value| of["reassembly_bound_bytes"].as_u64().unwrap();
    assert!(bound(new) * 10 < bound(old), "{associations:#?}");
    assert_eq!(new["links"][0]["congestion"], "reno", "{new:#}");
    assert_ne!(old["links"][0]["congestion"], "reno", "{old:#}");
}

#[test]
fn proxy_reload_applies_passwords() {
    let configured = Configured::new();
    let folder = configured.folder.path();
    let passwords = folder.join("passwords");
    fs::write(&passwords, "ada:pass\n").unwrap();
    let words = format!(
        "proxy --plaintext --relay {} --link l2=127.0.0.2 --listen 127.0.0.1:0 --passwords {} \
         --control {}",
        configured.relay_at,
        passwords.display(),
        folder.join("van").display()
    );
    let proxy = Gateway::start_words(&words);
    let at: SocketAddr = proxy.wait_for("proxy listens on ").parse().unwrap();
    // RFC 1929: user and password, and the answer's last byte.
    let is_let_in = |password: &str| {
        use std::io::{Read, Write};
        let mut socket = TcpStream::connect(at).unwrap();
        let mut sent = b"\x05\x01\x02\x01\x03ada\x04".to_vec();
        sent.extend(password.as_bytes());
        socket.write_all(&sent).unwrap();
        let mut received = [0; 4];
        socket.read_exact(&mut received).unwrap();
        received[3] == 0
    };
    assert!(is_let_in("pass") && !is_let_in("word"));
    fs::write(&passwords, "ada:word\n").unwrap();
    proxy.reload();
    proxy.wait_for("reloaded: ");
    assert!(is_let_in("word") && !is_let_in("pass"));
    fs::write(&passwords, "no password\n").unwrap();
    proxy.reload();
    let message = proxy.wait_for("not reloaded, nothing changes: ");
    assert!(message.contains("passwords:1: "), "{message}");
    assert!(is_let_in("word"));
}

#[test]
fn proxy_is_connected_again_soon_after_the_relay_has_returned() {
    let folder = tempfile::tempdir().unwrap();
    let target = echo();
    let relay = |listen: &str| {
        let words = format!(
            "relay --plaintext --listen {listen} --allow loopback --control {}",
            folder.path().join("relay.sock").display()
        );
        let relay = Gateway::start_words(&words);
        let at = relay.wait_for("relay listens on ");
        (relay, at)
    };
    // At an address of its own: no other connection takes its port while it is down.
    let (mut first, relay_at) = relay("127.0.0.5:0");
    let words = format!(
        "proxy --plaintext --relay {relay_at} --link l2=127.0.0.2 --listen 127.0.0.1:0 --control {}",
        folder.path().join("van").display()
    );
    let proxy = Gateway::start_words(&words);
    let at: SocketAddr = proxy.wait_for("proxy listens on ").parse().unwrap();
    assert_echo(&mut connect(at, target).unwrap());
    first.kill();
    // Dials are less frequent after ten seconds.
    thread::sleep(Duration::from_secs(12));
    let (_second, _) = relay(&relay_at);
    let begin = Instant::now();
    until("the link is up", || {
        proxy.log().matches("link l2: up").count() == 2
    });
    println!("up after {} ms", begin.elapsed().as_millis());
    // One dial each second, with a margin for a busy machine.
    assert!(begin.elapsed() < Duration::from_secs(4));
    assert_echo(&mut connect(at, target).unwrap());
}
