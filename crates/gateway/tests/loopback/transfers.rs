//! Bytes through a relay and a proxy: they arrive complete despite failures of links.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::world::{World, echo, noise, patient, source, start_relay, until};

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
fn a_cut_link_loses_nothing() {
    let world = World::new(&["--allow", "loopback"]);
    let bytes = Arc::new(noise(20 * MB, 1));
    let target = source(Arc::clone(&bytes));
    world.proxy.wait_for("link l2: up");
    world.proxy.wait_for("link l3: up");
    let mut socket = world.connect(target).unwrap();
    let got = read_all(&mut socket, 5 * MB, || assert!(world.between.cut(0) > 0));
    assert!(got == *bytes);
    world.proxy.wait_for("link l2: down");
    // Both directions, after the link that was cut is up again.
    let mut socket = world.connect(echo()).unwrap();
    let mut writer = socket.try_clone().unwrap();
    let sent = Arc::clone(&bytes);
    let upload = thread::spawn(move || {
        writer.write_all(&sent).unwrap();
        writer.shutdown(Shutdown::Write).unwrap();
    });
    let got = read_all(&mut socket, 5 * MB, || assert!(world.between.cut(1) > 0));
    assert!(got == *bytes);
    upload.join().unwrap();
}

#[test]
fn a_link_that_falls_silent_loses_nothing_and_returns() {
    let world = World::new(&["--allow", "loopback"]);
    let bytes = Arc::new(noise(20 * MB, 2));
    let target = source(Arc::clone(&bytes));
    world.proxy.wait_for("link l2: up");
    world.proxy.wait_for("link l3: up");
    let mut socket = world.connect(target).unwrap();
    let got = read_all(&mut socket, 5 * MB, || world.between.darken(0, true));
    assert!(got == *bytes);
    world.between.darken(0, false);
    let mut socket = world.connect(target).unwrap();
    let got = read_all(&mut socket, 5 * MB, || world.between.darken(1, true));
    assert!(got == *bytes);
}

#[test]
fn streams_end_each_way_by_itself() {
    let world = World::new(&["--allow", "loopback"]);
    // HTTP CONNECT, with data sent before the answer.
    let target = echo();
    let mut socket = patient(TcpStream::connect(world.proxy_at).unwrap());
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
    let mut socket = world.connect(listener.local_addr().unwrap()).unwrap();
    let (mut far, _) = listener.accept().unwrap();
    far.write_all(b"half").unwrap();
    let mut half = [0; 4];
    socket.read_exact(&mut half).unwrap();
    socket2::SockRef::from(&far)
        .set_linger(Some(std::time::Duration::ZERO))
        .unwrap();
    drop(far);
    let error = socket.read(&mut half).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}

#[test]
fn many_connections_do_not_disturb_each_other() {
    let world = World::new(&["--allow", "loopback"]);
    let target = echo();
    // A stream without a reader.
    let stuck = world.connect(source(Arc::new(noise(20 * MB, 3)))).unwrap();
    let world = Arc::new(world);
    let threads: Vec<_> = (0..50)
        .map(|n| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let mut socket = world.connect(target).unwrap();
                let bytes = noise(50_000, n);
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
fn datagrams_go_there_and_back() {
    let world = World::new(&["--allow", "loopback"]);
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut control = patient(TcpStream::connect(world.proxy_at).unwrap());
    control
        .write_all(b"\x05\x01\x00\x05\x03\x00\x01\0\0\0\0\0\0")
        .unwrap();
    let mut hears = [0; 12];
    control.read_exact(&mut hears).unwrap();
    assert_eq!(hears[..6], *b"\x05\x00\x05\x00\x00\x01");
    let port = u16::from_be_bytes([hears[10], hears[11]]);
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    near.set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .unwrap();
    near.connect(("127.0.0.1", port)).unwrap();
    let mut packet = b"\0\0\0\x01\x7f\x00\x00\x01".to_vec();
    packet.extend(far.local_addr().unwrap().port().to_be_bytes());
    packet.extend(noise(9000, 4));
    near.send(&packet).unwrap();
    let mut buffer = [0; 10_000];
    let (len, from) = far.recv_from(&mut buffer).unwrap();
    assert!(buffer[..len] == packet[10..]);
    far.send_to(b"back", from).unwrap();
    let len = near.recv(&mut buffer).unwrap();
    assert_eq!(buffer[..10], packet[..10]);
    assert_eq!(buffer[10..len], *b"back");
}

#[test]
fn a_far_relay_is_dialled_again_before_it_can_answer_and_keeps_one_carrier() {
    let world = World::new(&["--allow", "loopback"]);
    world.proxy.wait_for("link l2: up");
    world.between.be_late();
    assert!(world.between.cut(0) > 0);
    world.proxy.wait_for("link l2: down");
    let ups = || world.proxy.log().matches("link l2: up").count();
    until("the link is up again", || ups() >= 2);
    // A later dial would have closed it by now.
    thread::sleep(Duration::from_secs(1));
    let log = world.proxy.log();
    assert_eq!(log.matches("link l2: down").count(), 1, "{log}");
}

#[test]
fn a_relay_started_anew_is_found_again() {
    let mut world = World::new(&["--allow", "loopback"]);
    let target = echo();
    let mut before = world.connect(target).unwrap();
    let at = world.relay_at.to_string();
    world.relay.kill();
    world.relay = start_relay(world.folder.path(), &at, &["--allow", "loopback"]);
    world.relay.wait_for("relay listens on ");
    // Perhaps before the proxy knows.
    let mut socket = world.connect(target).unwrap();
    // Connections of the killed relay have ended.
    assert!(!matches!(before.read(&mut [0]), Ok(1..)));
    socket.write_all(b"again").unwrap();
    let mut back = [0; 5];
    socket.read_exact(&mut back).unwrap();
    assert_eq!(back, *b"again");
}
