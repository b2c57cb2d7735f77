//! Files that a gateway reads again at SIGHUP, and a listener that outlives a relay.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::gateways::{self, assert_echo, echo, keygen};
use crate::process::{BINARY, Gateway};

/// Keys of a relay and of two clients, and files for both ends.
struct Files(TempDir);

impl Files {
    fn new() -> Files {
        let files = Files(tempfile::tempdir().unwrap());
        keygen(files.0.path(), &["relay", "van", "bus"]);
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn clients(&self, names: &[&str]) {
        let line = |name: &&str| fs::read_to_string(self.path(&format!("{name}.pub"))).unwrap();
        let lines: String = names.iter().map(line).collect();
        self.write("clients", &lines);
    }

    fn relay(&self, allow: &[String]) {
        let text = format!(
            "listen = [\"127.0.0.1:0\"]\nkey = \"relay.key\"\nclients = \"clients\"\n\
             allow = {allow:?}\ncontrol = {:?}\n",
            self.path("relay.sock")
        );
        self.write("relay.toml", &text);
    }

    fn proxy(&self, name: &str, relay: &str, links: &[&str]) {
        let links: Vec<String> = links
            .iter()
            .map(|ip| format!("l{}={ip}", &ip[8..]))
            .collect();
        let text = format!(
            "listen = [\"127.0.0.1:0\"]\nrelay = {relay:?}\nkey = \"{name}.key\"\n\
             relay-key = \"relay.pub\"\nlink = {links:?}\ncontrol = {:?}\n",
            self.path(&format!("{name}.sock"))
        );
        self.write(&format!("{name}.toml"), &text);
    }

    fn start(&self, verb: &str, name: &str) -> Gateway {
        Gateway::start(&[verb, "--config", &self.path(&format!("{name}.toml"))])
    }
}

fn connect(proxy: &Gateway, target: SocketAddr) -> Option<TcpStream> {
    let proxy = proxy.wait_for("proxy listens on ").parse().unwrap();
    gateways::connect(proxy, target).ok()
}

#[test]
fn relay_reload_closes_only_connections_of_removed_clients_and_targets() {
    let files = Files::new();
    let (target, other) = (echo(), echo());
    files.clients(&["van", "bus"]);
    files.relay(&["loopback".to_owned()]);
    let relay = files.start("relay", "relay");
    let at = relay.wait_for("relay listens on ");
    for name in ["van", "bus"] {
        files.proxy(name, &at, &["127.0.0.2", "127.0.0.3"]);
    }
    let (van, bus) = (files.start("proxy", "van"), files.start("proxy", "bus"));
    let mut kept = connect(&van, target).unwrap();
    let mut cut = connect(&bus, target).unwrap();
    assert_echo(&mut kept);
    assert_echo(&mut cut);

    files.clients(&["van"]);
    relay.reload();
    relay.wait_for("reloaded: 1 clients; cut: bus");
    let end = cut.read(&mut [0; 16]).map_err(|error| error.kind());
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    assert!(connect(&bus, target).is_none());
    assert_echo(&mut kept);

    files.relay(&[format!("127.0.0.1:{}", other.port())]);
    relay.reload();
    // The same message as before, once more.
    while relay.log().matches("reloaded: 1 clients").count() < 2 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(connect(&van, other).is_some());
    assert!(connect(&van, target).is_none());
    assert_echo(&mut kept);

    // An invalid file changes nothing, and the message names the line.
    files.write("clients", "no key\n");
    relay.reload();
    let message = relay.wait_for("not reloaded, nothing changes: ");
    assert!(message.contains("clients:1: "), "{message}");
    files.clients(&["van"]);
    files.write("relay.toml", "listen = 5\n");
    relay.reload();
    relay.wait_for("relay.toml:1");
    assert!(connect(&van, other).is_some());
    assert_echo(&mut kept);
}

#[test]
fn proxy_reload_applies_links_and_passwords() {
    let files = Files::new();
    let target = echo();
    files.clients(&["van"]);
    files.relay(&["loopback".to_owned()]);
    let relay = files.start("relay", "relay");
    let at = relay.wait_for("relay listens on ");
    files.proxy("van", &at, &["127.0.0.2", "127.0.0.3"]);
    let van = files.start("proxy", "van");
    van.wait_for("link l2: up");
    van.wait_for("link l3: up");
    let mut kept = connect(&van, target).unwrap();
    assert_echo(&mut kept);
    files.proxy("van", &at, &["127.0.0.3", "127.0.0.4"]);
    van.reload();
    van.wait_for("reloaded: link l2 removed; link l4 added");
    van.wait_for("link l4: up");
    assert_echo(&mut kept);
    let log = van.log();
    assert_eq!(log.matches("link l3: up").count(), 1, "{log}");
    files.proxy("van", &at, &["127.0.0.4", "127.0.0.4"]);
    van.reload();
    van.wait_for("not reloaded, nothing changes: --link l4=127.0.0.4: two links of one name");
    assert_echo(&mut kept);
}

#[test]
fn reload_names_options_that_need_a_restart() {
    let files = Files::new();
    files.clients(&["van"]);
    files.relay(&["loopback".to_owned()]);
    files.proxy("van", "127.0.0.1:1", &["127.0.0.2"]);
    for (verb, name, ready, added, restarts) in [
        (
            "relay",
            "relay",
            "relay listens on ",
            "streams = 9\nassociations = 2\nrate = \"1mbit\"\nmemory = \"2MiB\"\nbuffer = \"1MiB\"\n\
             congestion = \"reno\"\nstatus = \"127.0.0.1:0\"\nlog = \"debug\"\n",
            &["log", "status"] as &[&str],
        ),
        (
            "proxy",
            "van",
            "proxy listens on ",
            "buffer = \"1MiB\"\nmemory = \"2MiB\"\ncongestion = \"reno\"\nlog = \"debug\"\n\
             scheduler = \"cheapest-in-time\"\nclass = \"streaming=554\"\ndeadline = \"1s\"\n\
             small = \"1KiB\"\n",
            &[
                "buffer",
                "class",
                "congestion",
                "deadline",
                "log",
                "memory",
                "scheduler",
                "small",
            ],
        ),
    ] {
        let gateway = files.start(verb, name);
        gateway.wait_for(ready);
        let file = format!("{name}.toml");
        let before = fs::read_to_string(files.path(&file)).unwrap();
        files.write(&file, &(before + added));
        gateway.reload();
        let message = gateway.wait_for("reloaded: ");
        let named = message
            .split("; ")
            .filter_map(|one| one.strip_suffix(" takes a restart"));
        let mut named: Vec<&str> = named.collect();
        named.sort_unstable();
        assert_eq!(named, restarts, "{message}");
    }
}

#[test]
fn passed_listener_outlives_the_relay() {
    let files = Files::new();
    let target = echo();
    files.clients(&["van"]);
    files.relay(&["loopback".to_owned()]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let relay = || {
        // As a service manager does it (sd_listen_fds(3)).
        let script = "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\" 3<&0 </dev/null";
        let mut command = Command::new("sh");
        command.args(["-c", script, BINARY, "relay", "--config"]);
        command.arg(files.path("relay.toml"));
        listening(&mut command, &listener)
    };
    let first = relay();
    assert_eq!(first.wait_for("relay listens on "), at);
    files.proxy("van", &at, &["127.0.0.2"]);
    let van = files.start("proxy", "van");
    assert_echo(&mut connect(&van, target).unwrap());
    assert_eq!(first.terminate().code(), Some(0));
    // A connection in the meantime waits, and is not refused.
    let waiting = TcpStream::connect(&at).unwrap();
    let second = relay();
    assert_eq!(second.wait_for("relay listens on "), at);
    assert_echo(&mut connect(&van, target).unwrap());
    drop(waiting);
    assert!(Path::new(&files.path("relay.sock")).exists());
}

fn listening(command: &mut Command, listener: &TcpListener) -> Gateway {
    let listener = OwnedFd::from(listener.try_clone().unwrap());
    Gateway::run_with(command, Stdio::from(listener))
}
