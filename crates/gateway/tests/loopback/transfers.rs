//! Bytes through a relay and a proxy: they arrive complete despite failures of links.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::gateways::{Gateways, echo, pseudo_random, source, start_relay, until, with_timeouts};

const MB: usize = 1_000_000;

/// Reads to the end; calls `disturb` after `at` bytes.
fn read_all(socket: &mut TcpStream, at: usize, disturb: impl FnOnce()) -> Vec<u8> {
    let mut bytes = vec![0; at];
    socket.read_exact(&mut bytes).unwrap();
    disturb();
    socket.read_to_end(&mut bytes).unwrap();
    bytes
}

#[test]
fn cut_link_loses_no_bytes() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let bytes = Arc::new(pseudo_random(20 * MB, 1));
    let target = source(Arc::clone(&bytes));
    gateways.proxy.wait_for("link l2: up");
    gateways.proxy.wait_for("link l3: up");
    let mut socket = gateways.connect(target).unwrap();
    let got = read_all(&mut socket, 5 * MB, || {
        assert!(gateways.forwarder.cut(0) > 0)
    });
    assert!(got == *bytes);
    gateways.proxy.wait_for("link l2: down");
    // Both directions, after the link that was cut is up again.
    let mut socket = gateways.connect(echo()).unwrap();
    let mut writer = socket.try_clone().unwrap();
    let sent = Arc::clone(&bytes);
    let upload = thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let got = read_all(&mut socket, 5 * MB, || {
        assert!(gateways.forwarder.cut(1) > 0)
    });
    assert!(got == *bytes);
    upload.join().unwrap();
}

#[test]
fn silent_link_loses_no_bytes_and_returns() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let bytes = Arc::new(pseudo_random(20 * MB, 2));
    let target = source(Arc::clone(&bytes));
    gateways.proxy.wait_for("link l2: up");
    gateways.proxy.wait_for("link l3: up");
    let mut socket = gateways.connect(target).unwrap();
    let got = read_all(&mut socket, 5 * MB, || {
        gateways.forwarder.set_blocked(0, true)
    });
    assert!(got == *bytes);
    gateways.forwarder.set_blocked(0, false);
    let mut socket = gateways.connect(target).unwrap();
    let got = read_all(&mut socket, 5 * MB, || {
        gateways.forwarder.set_blocked(1, true)
    });
    assert!(got == *bytes);
}

#[test]
fn stream_directions_end_independently() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    // HTTP CONNECT, with data sent before the answer.
    let target = echo();
    let mut socket = with_timeouts(TcpStream::connect(gateways.proxy_at).unwrap());
    write!(socket, "CONNECT {target} HTTP/1.1\r\n\r\nearly ").unwrap();
    socket.write_all(b"late").unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    assert_eq!(
        answer,
        "HTTP/1.1 200 Connection established\r\n\r\nearly late"
    );

    // A reset by the target is not a regular end.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut socket = gateways.connect(listener.local_addr().unwrap()).unwrap();
    let (mut outgoing, _) = listener.accept().unwrap();
    outgoing.write_all(b"half").unwrap();
    let mut half = [0; 4];
    socket.read_exact(&mut half).unwrap();
    socket2::SockRef::from(&outgoing)
        .set_linger(Some(std::time::Duration::ZERO))
        .unwrap();
    drop(outgoing);
    let error = socket.read(&mut half).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn unread_connection_does_not_block_others() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let target = echo();
    // A stream without a reader.
    let stuck = gateways
        .connect(source(Arc::new(pseudo_random(20 * MB, 3))))
        .unwrap();
    let gateways = Arc::new(gateways);
    let threads: Vec<_> = (0..50)
        .map(|n| {
            let gateways = Arc::clone(&gateways);
            thread::spawn(move || {
                let mut socket = gateways.connect(target).unwrap();
                let bytes = pseudo_random(50_000, n);
                socket.write_all(&bytes).unwrap();
                socket.shutdown(Shutdown::Write).unwrap();
                let mut back = Vec::new();
                socket.read_to_end(&mut back).unwrap();
                assert!(back == bytes);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    drop(stuck);
}

#[test]
fn datagrams_are_echoed() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    let outgoing = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut control = with_timeouts(TcpStream::connect(gateways.proxy_at).unwrap());
    control
        .write_all(b"\x05\x01\x00\x05\x03\x00\x01\0\0\0\0\0\0")
        .unwrap();
    let mut received = [0; 12];
    control.read_exact(&mut received).unwrap();
    assert_eq!(received[..6], *b"\x05\x00\x05\x00\x00\x01");
    let port = u16::from_be_bytes([received[10], received[11]]);
    let incoming = UdpSocket::bind("127.0.0.1:0").unwrap();
    incoming
        .set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .unwrap();
    incoming.connect(("127.0.0.1", port)).unwrap();
    let mut packet = b"\0\0\0\x01\x7f\x00\x00\x01".to_vec();
    packet.extend(outgoing.local_addr().unwrap().port().to_be_bytes());
    packet.extend(pseudo_random(9000, 4));
    incoming.send(&packet).unwrap();
    let mut buffer = [0; 10_000];
    let (len, from) = outgoing.recv_from(&mut buffer).unwrap();
    assert!(buffer[..len] == packet[10..]);
    outgoing.send_to(b"back", from).unwrap();
    let len = incoming.recv(&mut buffer).unwrap();
    assert_eq!(buffer[..10], packet[..10]);
    assert_eq!(buffer[10..len], *b"back");
}

#[test]
fn distant_relay_keeps_one_carrier_after_repeated_dials() {
    let gateways = Gateways::new(&["--allow", "loopback"]);
    gateways.proxy.wait_for("link l2: up");
    gateways.forwarder.delay();
    assert!(gateways.forwarder.cut(0) > 0);
    gateways.proxy.wait_for("link l2: down");
    let ups = || gateways.proxy.log().matches("link l2: up").count();
    until("the link is up again", || ups() >= 2);
    // A later dial would have closed it by now.
    thread::sleep(Duration::from_secs(1));
    let log = gateways.proxy.log();
    assert_eq!(log.matches("link l2: down").count(), 1, "{log}");
}

#[test]
fn restarted_relay_is_reconnected() {
    let mut gateways = Gateways::new(&["--allow", "loopback"]);
    let target = echo();
    let mut before = gateways.connect(target).unwrap();
    let at = gateways.relay_at.to_string();
    gateways.relay.kill();
    gateways.relay = start_relay(gateways.folder.path(), &at, &["--allow", "loopback"]);
    gateways.relay.wait_for("relay listens on ");
    // Perhaps before the proxy knows.
    let mut socket = gateways.connect(target).unwrap();
    // Connections of the killed relay have ended.
    assert!(!matches!(before.read(&mut [0]), Ok(1..)));
    socket.write_all(b"again").unwrap();
    let mut back = [0; 5];
    socket.read_exact(&mut back).unwrap();
    assert_eq!(back, *b"again");
}
