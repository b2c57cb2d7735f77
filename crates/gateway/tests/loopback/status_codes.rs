//! Status codes of the proxy's answers in HTTP and SOCKS5, and the limits of a head.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Socket, Type};

use crate::gateways::{connect, echo, with_timeouts};
use crate::pair::Pair;
use crate::process::{Gateway, TIMEOUT, until};

/// Sends bytes to a proxy; returns its answer until it closes the connection.
fn exchange(proxy: SocketAddr, sent: &str) -> String {
    let mut socket = with_timeouts(TcpStream::connect(proxy).unwrap());
    socket.write_all(sent.as_bytes()).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut received = String::new();
    socket.read_to_string(&mut received).unwrap();
    received
}

fn assert_status(proxy: SocketAddr, sent: &str, status: &str) {
    let received = exchange(proxy, sent);
    let line = format!("HTTP/1.1 {status}\r\n");
    assert!(
        received.starts_with(&line),
        "{}: {received}",
        sent.chars().take(200).collect::<String>()
    );
}

/// Returns SOCKS5's code of a connection to an address: 0 if it is open.
fn socks(proxy: SocketAddr, target: SocketAddr) -> u8 {
    let mut socket = with_timeouts(TcpStream::connect(proxy).unwrap());
    let SocketAddr::V4(target) = target else {
        panic!("{target}")
    };
    let mut sent = b"\x05\x01\x00\x05\x01\x00\x01".to_vec();
    sent.extend(target.ip().octets());
    sent.extend(target.port().to_be_bytes());
    socket.write_all(&sent).unwrap();
    let mut received = [0; 12];
    socket.read_exact(&mut received).unwrap();
    received[3]
}

fn host(answer: &'static str) -> (SocketAddr, std::sync::mpsc::Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let (recorded, received) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let recorded = recorded.clone();
            thread::spawn(move || {
                let mut head = Vec::new();
                let mut byte = [0];
                while socket.read_exact(&mut byte).is_ok() {
                    head.push(byte[0]);
                    if head.ends_with(b"\r\n\r\n") {
                        head.clear();
                        recorded.send(()).unwrap();
                        socket.write_all(answer.as_bytes()).unwrap();
                    }
                }
            });
        }
    });
    (at, received)
}

const EMPTY: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nCache-Control: max-age=9999\r\n\r\n";

#[test]
fn ambiguous_request_or_unsupported_one_has_its_status() {
    let pair = Pair::new("--allow loopback", "");
    let get = |line: &str, fields: &str| format!("{line}\r\nHost: a\r\n{fields}\r\n");
    let plain = "GET http://a/ HTTP/1.1";
    for (sent, status) in [
        // Two lengths, a length and chunks, a folded field, no host, two hosts.
        (
            get(plain, "Content-Length: 1\r\nContent-Length: 1\r\n"),
            "400 Bad Request",
        ),
        (
            get(plain, "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
            "400 Bad Request",
        ),
        (get(plain, "X: a\r\n b\r\n"), "400 Bad Request"),
        (format!("{plain}\r\n\r\n"), "400 Bad Request"),
        (get(plain, "Host: b\r\n"), "400 Bad Request"),
        (
            get("TRACE http://a/ HTTP/1.1", ""),
            "405 Method Not Allowed",
        ),
        (get("GET ftp://a/ HTTP/1.1", ""), "501 Not Implemented"),
        (
            get(plain, "Transfer-Encoding: gzip, chunked\r\n"),
            "501 Not Implemented",
        ),
        (
            get("GET http://a/ HTTP/2.0", ""),
            "505 HTTP Version Not Supported",
        ),
        (
            get("GET http://a/ HTTP/1.2", ""),
            "505 HTTP Version Not Supported",
        ),
        (get("GET http://192.0.2.1/ HTTP/1.1", ""), "403 Forbidden"),
    ] {
        assert_status(pair.proxy_at, &sent, status);
    }
}

#[test]
fn head_of_16_kib_and_128_fields_is_the_longest() {
    let pair = Pair::new("--allow loopback", "");
    let (at, _requests) = host(EMPTY);
    let head = |fields: &str| {
        format!("GET http://{at}/ HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n{fields}\r\n")
    };
    let padded = |len: usize| {
        let padding = len - head("X: \r\n").len();
        head(&format!("X: {}\r\n", "y".repeat(padding)))
    };
    assert_eq!(padded(16 << 10).len(), 16 << 10);
    let too_large = "431 Request Header Fields Too Large";
    for (sent, status) in [
        (padded(16 << 10), "200 OK"),
        (padded((16 << 10) + 1), too_large),
        (head(&"X: y\r\n".repeat(126)), "200 OK"),
        (head(&"X: y\r\n".repeat(127)), too_large),
    ] {
        assert_status(pair.proxy_at, &sent, status);
    }
}

#[test]
fn same_request_reaches_the_host_each_time() {
    let pair = Pair::new("--allow loopback", "");
    let (at, requests) = host(EMPTY);
    let sent = format!("GET http://{at}/ HTTP/1.0\r\n\r\n");
    for _ in 0..3 {
        assert_status(pair.proxy_at, &sent, "200 OK");
        requests.recv_timeout(TIMEOUT).unwrap();
    }
    assert!(requests.try_recv().is_err());
}

#[test]
fn program_without_password_gets_407() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("passwords"), "ada:pass\n").unwrap();
    let passwords = "--passwords FOLDER/passwords";
    let pair = Pair::within(folder, "--allow loopback", passwords);
    let (at, _requests) = host(EMPTY);
    let get = |field: &str| {
        format!("GET http://{at}/ HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n{field}\r\n")
    };
    let required = "407 Proxy Authentication Required";
    for field in ["", "Proxy-Authorization: Basic YWRhOng=\r\n"] {
        let received = exchange(pair.proxy_at, &get(field));
        assert!(
            received.starts_with(&format!("HTTP/1.1 {required}")),
            "{received}"
        );
        assert!(
            received.contains("\r\nProxy-Authenticate: Basic "),
            "{received}"
        );
    }
    let connects = format!("CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n\r\n");
    assert_status(pair.proxy_at, &connects, required);
    let right = "Proxy-Authorization: Basic YWRhOnBhc3M=\r\n";
    assert_status(pair.proxy_at, &get(right), "200 OK");
    // SOCKS5: no acceptable method, a wrong password (RFC 1929), and the right one.
    let negotiate = |sent: &[u8], len: usize| {
        let mut socket = with_timeouts(TcpStream::connect(pair.proxy_at).unwrap());
        socket.write_all(sent).unwrap();
        let mut received = vec![0; len];
        socket.read_exact(&mut received).unwrap();
        received
    };
    assert_eq!(negotiate(b"\x05\x01\x00", 2), b"\x05\xff");
    let with = |password: &str| {
        let mut sent = b"\x05\x01\x02\x01\x03ada\x04".to_vec();
        sent.extend(password.as_bytes());
        negotiate(&sent, 4)
    };
    assert_eq!(with("pass")[..], *b"\x05\x02\x01\x00");
    let wrong = with("word");
    assert!(wrong[..3] == *b"\x05\x02\x01" && wrong[3] != 0, "{wrong:?}");
}

#[test]
fn program_of_a_full_relay_gets_503() {
    let pair = Pair::new("--allow loopback --streams 1", "");
    let target = echo();
    let open = connect(pair.proxy_at, target).unwrap();
    let refused = connect(pair.proxy_at, target).unwrap_err();
    let unavailable = "503 Service Unavailable";
    assert!(
        refused.starts_with(&format!("HTTP/1.1 {unavailable}")),
        "{refused}"
    );
    let get = format!("GET http://{target}/ HTTP/1.0\r\n\r\n");
    assert_status(pair.proxy_at, &get, unavailable);
    drop(open);
    until("a place is free", || connect(pair.proxy_at, target).is_ok());
}

/// A listener that answers no SYN: its queue of connections is full.
fn unresponsive() -> (Socket, Vec<Socket>, SocketAddr) {
    let listener = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    listener
        .bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())
        .unwrap();
    listener.listen(0).unwrap();
    let at = listener.local_addr().unwrap();
    let fill = || {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        let _ = socket.connect(&at);
        socket
    };
    let waiting = (0..4).map(|_| fill()).collect();
    let at = at.as_socket().unwrap();
    (listener, waiting, at)
}

#[test]
fn silent_target_gives_504() {
    let pair = Pair::new("--allow loopback", "");
    let (_listener, _waiting, at) = unresponsive();
    let timeout = "504 Gateway Timeout";
    thread::scope(|scope| {
        scope.spawn(|| {
            let connects = format!("CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n\r\n");
            let refused = exchange(pair.proxy_at, &connects);
            assert!(
                refused.starts_with(&format!("HTTP/1.1 {timeout}")),
                "{refused}"
            );
        });
        scope.spawn(|| {
            let mut socket = with_timeouts(TcpStream::connect(pair.proxy_at).unwrap());
            write!(socket, "GET http://{at}/ HTTP/1.1\r\nHost: {at}\r\n\r\n").unwrap();
            let mut received = [0; 28];
            socket.read_exact(&mut received).unwrap();
            let received = String::from_utf8_lossy(&received);
            assert_eq!(received, format!("HTTP/1.1 {timeout}"));
        });
        // RFC 1928: TTL expired, as the code of a timeout.
        scope.spawn(|| assert_eq!(socks(pair.proxy_at, at), 6));
    });
}

#[test]
fn connection_without_a_relay_fails_after_nine_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = TcpListener::bind("127.0.0.4:0").unwrap();
    let relay = nobody.local_addr().unwrap().to_string();
    drop(nobody);
    let control = folder.path().join("proxy.sock").display().to_string();
    let arguments = format!(
        "proxy --plaintext --relay {relay} --link l2=127.0.0.2 --listen 127.0.0.1:0 --control {control}"
    );
    let proxy = Gateway::start(&arguments.split_whitespace().collect::<Vec<_>>());
    let at: SocketAddr = proxy.wait_for("proxy listens on ").parse().unwrap();
    let target: SocketAddr = "127.0.0.1:9".parse().unwrap();
    // The upper limit has a margin for a busy machine.
    let in_time = Duration::from_millis(8500)..Duration::from_secs(30);
    thread::scope(|scope| {
        scope.spawn(|| {
            let begin = Instant::now();
            // RFC 1928: network unreachable.
            assert_eq!(socks(at, target), 3);
            assert!(in_time.contains(&begin.elapsed()), "{:?}", begin.elapsed());
        });
        scope.spawn(|| {
            let begin = Instant::now();
            let refused = connect(at, target).unwrap_err();
            assert!(refused.starts_with("HTTP/1.1 502 Bad Gateway"), "{refused}");
            assert!(in_time.contains(&begin.elapsed()), "{:?}", begin.elapsed());
        });
        scope.spawn(|| {
            let get = format!("GET http://{target}/ HTTP/1.0\r\n\r\n");
            assert_status(at, &get, "502 Bad Gateway");
        });
    });
}
