//! Tests of listening programs: both ends are legacy programs.

use std::process::Child;

use crate::gateway::{CLIENT, Gateway, output, python, server};

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(gateway: &Gateway, script: &str) -> (Running, u16) {
    let mut command = gateway.command(python());
    let (child, port) = server(command.args(["-u", "-c", script]));
    (Running(child), port)
}

#[test]
fn a_server_sees_its_true_client() {
    let gateway = Gateway::start();
    let script = "
import os, socket, sys
s = socket.create_server(('', 0))
print('port', s.getsockname()[1])
assert s.getsockname()[0] == '0.0.0.0'
while True:
    c, address = s.accept()
    if os.fork() == 0:
        c.sendall(f'{address} {c.getpeername()} {c.getsockname()}'.encode())
        os._exit(0)
    c.close()
";
    let (_server, port) = run(&gateway, script);
    let client = "
s = socket.create_connection(('server.example', int(sys.argv[1])))
print(s.makefile().read())
";
    let (host, client_port) = CLIENT.split_once(':').unwrap();
    let seen = format!("('{host}', {client_port})");
    for _ in 0..3 {
        let printed = gateway.python(client, &[&port.to_string()]);
        assert_eq!(
            printed.trim(),
            format!("{seen} {seen} ('127.0.0.1', {port})")
        );
    }
}

#[test]
fn ipv6_servers_are_found_too_and_may_share_the_port() {
    let gateway = Gateway::start();
    let script = "
import socket
s = socket.socket(socket.AF_INET6); s.bind(('::', 0)); s.listen()
port = s.getsockname()[1]
assert s.getsockname()[:2] == ('::', port), s.getsockname()
only = socket.socket(socket.AF_INET6)
only.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
only.bind(('::', port)); only.listen()
taken = socket.socket()
try:
    taken.bind(('0.0.0.0', port)); raise SystemExit('bound')
except OSError as error:
    assert error.errno == 98, error
print('port', port)
c, address = s.accept()
c.sendall(f'{address[:2]}'.encode())
";
    let (_server, port) = run(&gateway, script);
    let client = "
s = socket.create_connection(('server.example', int(sys.argv[1])))
print(s.makefile().read())
";
    let printed = gateway.python(client, &[&port.to_string()]);
    assert_eq!(printed.trim(), "('::ffff:192.0.2.7', 5555)");
}

#[test]
fn unbound_or_ended_server_is_handled() {
    let gateway = Gateway::start();
    let (server, port) = run(
        &gateway,
        "
import socket
s = socket.socket(); s.listen()
print('port', s.getsockname()[1])
s.accept()[0].sendall(b'hello')
s.accept()
",
    );
    let client = "
s = socket.socket()
print(s.connect_ex(('server.example', int(sys.argv[1]))) or s.makefile().read())
";
    assert_eq!(gateway.python(client, &[&port.to_string()]).trim(), "hello");
    drop(server);
    assert_eq!(gateway.python(client, &[&port.to_string()]).trim(), "111");
}

#[test]
fn the_http_server_of_python_serves_urllib() {
    let gateway = Gateway::start();
    let mut command = gateway.command(python());
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), vec![7; 300_000]).unwrap();
    command
        .args(["-u", "-m", "http.server", "0"])
        .current_dir(folder.path());
    let (child, port) = server(&mut command);
    let _server = Running(child);
    let script = format!(
        "import urllib.request
body = urllib.request.urlopen('http://server.example:{port}/file').read()
assert body == bytes([7]) * 300_000"
    );
    output(gateway.command(python()).args(["-c", &script]));
}
