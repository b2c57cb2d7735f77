//! Tests of programs at both ends of a real proxy and a real relay, started by `exec`.

use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::gateway::{built, output, python, server};

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn gateway(arguments: &[&str]) -> Command {
    let mut command = Command::new(built().join("ropewalk-gateway"));
    command.args(arguments);
    command
}

/// Starts proxy and relay on loopback, with two links, with control sockets in the folder.
fn start(folder: &Path) -> [Running; 2] {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let at = format!("127.0.0.1:{port}");
    let mut relay = gateway(&["relay", "--plaintext", "--listen", &at]);
    relay.args(["--allow", "0.0.0.0/0", "--deny", "0.0.0.0/0:9", "--control"]);
    let mut proxy = gateway(&[
        "proxy",
        "--plaintext",
        "--relay",
        &at,
        "--listen",
        "127.0.0.1:0",
    ]);
    proxy.args([
        "--link",
        "a=127.0.0.1",
        "--link",
        "b=127.0.0.2",
        "--control",
    ]);
    [("relay", relay), ("proxy", proxy)].map(|(name, mut command)| {
        let socket = folder.join(name);
        let child = command.arg(&socket).stderr(Stdio::null()).spawn().unwrap();
        let running = Running(child);
        while !socket.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
        running
    })
}

/// Returns an `exec` command at one of the ends.
fn exec(control: PathBuf, arguments: &[&str]) -> Command {
    let mut command = gateway(&["exec", "--control"]);
    command.arg(control).arg("--").arg(python()).args(arguments);
    command
}

/// Returns an address of this machine that is not loopback; sends no packet.
fn own_address() -> Option<String> {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect("192.0.2.1:9").ok()?;
    let ip = socket.local_addr().unwrap().ip();
    (!ip.is_loopback()).then(|| ip.to_string())
}

#[test]
fn both_ends_are_unmodified_programs() {
    let Some(host) = own_address() else {
        eprintln!("skipped: this machine has no address but loopback's");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let _ends = start(folder.path());
    let [proxy, relay] = ["proxy", "relay"].map(|name| folder.path().join(name));

    std::fs::write(folder.path().join("file"), vec![3; 4_000_000]).unwrap();
    let mut command = exec(relay, &["-u", "-m", "http.server", "0"]);
    let (child, port) = server(command.current_dir(folder.path()));
    let _server = Running(child);
    let script = format!(
        "
import errno, socket, urllib.request
body = urllib.request.urlopen('http://{host}:{port}/file').read()
assert body == bytes([3]) * 4_000_000
s = socket.socket()
assert s.connect_ex(('{host}', 9)) == errno.EACCES
s = socket.socket()
assert s.connect_ex(('{host}', 1)) == errno.ECONNREFUSED
s = socket.socket()
assert s.connect_ex(('name.invalid', 80)) == errno.EHOSTUNREACH
s = socket.socket()
s.bind(('', 0))
try:
    s.listen(); raise SystemExit('listens at the proxy')
except PermissionError:
    pass
"
    );
    output(&mut exec(proxy, &["-c", &script]));
}
