//! Tests of programs at both ends of a real proxy and a real relay, started by `exec`.

use std::net::{TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

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

/// A proxy and a relay of this machine.
struct Ends {
    /// Address of this machine that is not loopback.
    host: String,
    /// Folder of the control sockets.
    folder: TempDir,
    _running: [Running; 2],
}

impl Ends {
    /// Starts both; `None` if the machine has no such address.
    fn start() -> Option<Ends> {
        let Some(host) = own_address() else {
            eprintln!("skipped: this machine has no address but loopback's");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let running = start(folder.path());
        Some(Ends {
            host,
            folder,
            _running: running,
        })
    }
}

#[test]
fn both_ends_are_unmodified_programs() {
    let Some(ends) = Ends::start() else { return };
    let (host, folder) = (&ends.host, ends.folder.path());
    let [proxy, relay] = ["proxy", "relay"].map(|name| folder.join(name));

    std::fs::write(folder.join("file"), vec![3; 4_000_000]).unwrap();
    let mut command = exec(relay, &["-u", "-m", "http.server", "0"]);
    let (child, port) = server(command.current_dir(folder));
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

#[test]
fn datagrams_and_queries_pass_proxy_and_relay() {
    let Some(ends) = Ends::start() else { return };
    let (host, folder) = (&ends.host, ends.folder.path());
    let [proxy, relay] = ["proxy", "relay"].map(|name| folder.join(name));

    // A name server at the relay, which answers with the address of the querier's socket at the relay.
    let serve = "
import socket, struct
s = socket.socket(type=socket.SOCK_DGRAM)
s.bind(('', 0))
print('port', s.getsockname()[1])
while True:
    query, source = s.recvfrom(512)
    record = b'\\xc0\\x0c' + struct.pack('!HHIH', 1, 1, 60, 4) + socket.inet_aton(source[0])
    s.sendto(query[:2] + struct.pack('!HHHHH', 0x8180, 1, 1, 0, 0) + query[12:] + record, source)
";
    let (child, port) = server(&mut exec(relay, &["-u", "-c", serve]));
    let _server = Running(child);
    let script = format!(
        "
import os, socket, struct
server = ('{host}', {port})
def query(name):
    labels = b''.join(bytes([len(label)]) + label.encode() for label in name.split('.'))
    return os.urandom(2) + struct.pack('!HHHHH', 0x100, 1, 0, 0, 0) + labels + struct.pack('!BHH', 0, 1, 1)
def udp():
    s = socket.socket(type=socket.SOCK_DGRAM)
    s.settimeout(20)
    return s
connected, plain = udp(), udp()
connected.connect(server)
assert connected.getpeername() == server
sent = query('some.example')
connected.send(sent)
answer = connected.recv(512)
assert answer[:2] == sent[:2] and answer[12:len(sent)] == sent[12:], answer
# The relay's rules do not allow the first: it is lost, like a datagram on any network.
for number in range(20):
    plain.sendto(b'x', (server[0], 9))
    sent = query(f'host{{number}}.example')
    plain.sendto(sent, server)
    answer, source = plain.recvfrom(512)
    assert source == server and answer[:2] == sent[:2], (answer, source)
# More sockets than may be open at a time: the gateway forgets those that were closed.
for number in range(1100):
    s = udp()
    s.sendto(sent, server)
    assert s.recvfrom(512)[1] == server
    s.close()
"
    );
    output(&mut exec(proxy, &["-c", &script]));
}
