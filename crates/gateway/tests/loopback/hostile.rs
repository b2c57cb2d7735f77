//! A client that is authenticated and hostile: every limit of a client against every way of sending.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use ropewalk_gateway::datagram;
use ropewalk_gateway::request::{Request, Target};
use ropewalk_wire::gateway::Join;

use crate::world::{Gateway, TIMEOUT, patient};

const MIB: u64 = 1 << 20;

/// Memory of a relay that does not depend on its client: code, heap and buffers that are pages of the
/// allocator.
const SLACK: u64 = 24 * MIB;

/// A relay for anybody, with these options.
fn relay(folder: &tempfile::TempDir, options: &[&str]) -> (Gateway, SocketAddr) {
    let control = folder.path().join("relay.sock");
    let mut arguments = vec!["relay", "--plaintext", "--listen", "127.0.0.1:0"];
    arguments.extend([
        "--allow",
        "loopback",
        "--control",
        control.to_str().unwrap(),
    ]);
    arguments.extend(options);
    let relay = Gateway::start(&arguments);
    let at = relay.wait_for("relay listens on ").parse().unwrap();
    (relay, at)
}

/// A carrier that sends what a test has it send.
struct Carrier(TcpStream);

impl Carrier {
    /// The relay's answer is the second byte of the two.
    fn join(at: SocketAddr, association: [u8; 16], link: &str) -> Result<Carrier, u8> {
        let mut socket = patient(TcpStream::connect(at).unwrap());
        let mut says = b"RPWK\x01\x00".to_vec();
        let join = Join {
            association,
            resumes: false,
            cost: 1000,
            quota: None,
            priority: 0,
            link: link.to_owned(),
            scheduler: "earliest-arrival".to_owned(),
        };
        join.emit(&mut says);
        socket.write_all(&says).unwrap();
        let mut answer = [0; 2];
        socket.read_exact(&mut answer).unwrap();
        match answer[1] {
            0 => Ok(Carrier(socket)),
            refusal => Err(refusal),
        }
    }

    fn new(at: SocketAddr) -> Carrier {
        Carrier::join(at, [7; 16], "lte").expect("there is room")
    }

    /// Whether the relay still takes what is sent.
    fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok()
    }
}

fn data(stream: u32, offset: u64, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![1, 0];
    frame.extend((payload.len() as u16).to_be_bytes());
    frame.extend(stream.to_be_bytes());
    frame.extend(offset.to_be_bytes());
    frame.extend(payload);
    frame
}

fn reset(stream: u32, final_size: u64) -> Vec<u8> {
    let mut frame = vec![4];
    frame.extend(stream.to_be_bytes());
    frame.extend(7u32.to_be_bytes());
    frame.extend(final_size.to_be_bytes());
    frame
}

fn window(stream: u32, limit: u64) -> Vec<u8> {
    let mut frame = vec![3];
    frame.extend(stream.to_be_bytes());
    frame.extend(limit.to_be_bytes());
    frame
}

fn connect(target: SocketAddr) -> Vec<u8> {
    Request::Connect(Target::from(target), Default::default()).to_bytes()
}

/// A target that accepts, and neither reads nor ends.
fn mute() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        let kept: Vec<_> = listener.incoming().map_while(Result::ok).collect();
        drop(kept);
    });
    at
}

/// A target that sends without end to whoever connects.
fn fountain() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let sockets: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
    let added = Arc::clone(&sockets);
    thread::spawn(move || {
        for socket in listener.incoming().map_while(Result::ok) {
            socket.set_nonblocking(true).unwrap();
            added.lock().unwrap().push(socket);
        }
    });
    thread::spawn(move || {
        let bytes = vec![0; 64 << 10];
        loop {
            sockets
                .lock()
                .unwrap()
                .retain_mut(|socket| match socket.write(&bytes) {
                    Ok(_) => true,
                    Err(error) => error.kind() == ErrorKind::WouldBlock,
                });
            thread::sleep(Duration::from_millis(5));
        }
    });
    at
}

fn resident(gateway: &Gateway) -> u64 {
    gateway.memory()[0] as u64
}

/// The most resident memory while this time passes, and that which there was before.
struct Watch<'a>(&'a Gateway, u64);

impl Watch<'_> {
    fn most_during(&self, time: Duration) -> u64 {
        let start = Instant::now();
        let mut most = 0;
        while start.elapsed() < time {
            most = most.max(resident(self.0));
            thread::sleep(Duration::from_millis(20));
        }
        most.saturating_sub(self.1)
    }
}

/// The relay serves others.
fn serves(at: SocketAddr) {
    let target = crate::world::echo();
    let mut other = Carrier::join(at, [9; 16], "wifi").expect("there is room");
    let mut says = connect(target);
    says.extend(b"hello");
    assert!(other.send(&data(1, 0, &says)));
    let mut heard: Vec<u8> = Vec::new();
    let start = Instant::now();
    while !heard.windows(5).any(|part| part == b"hello") {
        assert!(start.elapsed() < TIMEOUT, "{heard:?}");
        let mut bytes = [0; 4096];
        let len = other.0.read(&mut bytes).unwrap();
        assert!(len > 0, "the relay has ended the carrier");
        heard.extend(&bytes[..len]);
    }
}

#[test]
fn streams_that_the_client_does_not_read_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(fountain());
    let mut carrier = Carrier::new(at);
    for stream in 0..800 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
        // The relay may send as much as it wants.
        carrier.send(&window(1 + 2 * stream, u64::MAX / 2));
    }
    let most = watch.most_during(Duration::from_secs(6));
    assert!(most < 16 * MIB + SLACK, "{most}");
}

#[test]
fn streams_that_the_target_does_not_read_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(mute());
    let mut carrier = Carrier::new(at);
    for stream in 0..800 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
    }
    // A gap in front: nothing can be passed on.
    let start = request.len() as u64 + 1;
    for part in 0..15 {
        for stream in 0..800 {
            carrier.send(&data(1 + 2 * stream, start + part * 4000, &[0; 4000]));
        }
    }
    let most = watch.most_during(Duration::from_secs(4));
    assert!(most < 16 * MIB + SLACK, "{most}");
}

#[test]
fn pieces_of_one_byte_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(mute());
    let mut carrier = Carrier::new(at);
    for stream in 0..200 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
    }
    let start = request.len() as u64 + 1;
    for place in 0..3000 {
        let frames: Vec<Vec<u8>> = (0..200)
            .map(|stream| data(1 + 2 * stream, start + 2 * place, b"x"))
            .collect();
        if !carrier.send(&frames.concat()) {
            break;
        }
    }
    let most = watch.most_during(Duration::from_secs(3));
    assert!(most < 16 * MIB + SLACK, "{most}");
}

#[test]
fn small_parts_of_large_reads_stay_within_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(mute());
    let mut carrier = Carrier::new(at);
    let start = request.len() as u64 + 1;
    for stream in 0..400 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
        // The same part again and again fills the relay's read buffer, of which the first copy stays.
        let part = data(1 + 2 * stream, start, &[0; 4096]);
        for _ in 0..64 {
            carrier.send(&part);
        }
    }
    let most = watch.most_during(Duration::from_secs(3));
    assert!(most < 16 * MIB + SLACK, "{most}");
    serves(at);
}

#[test]
fn streams_opened_and_reset_in_a_row_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let watch = Watch(&gateway, resident(&gateway));
    let request = connect(mute());
    let mut carrier = Carrier::new(at);
    for burst in 0..100 {
        let frames = (0..300).map(|number| 1 + 2 * (300 * burst + number));
        let frames = frames.flat_map(|stream| {
            [
                data(stream, 0, &request),
                reset(stream, request.len() as u64),
            ]
            .concat()
        });
        if !carrier.send(&frames.collect::<Vec<u8>>()) {
            break;
        }
    }
    let most = watch.most_during(Duration::from_secs(3));
    assert!(most < 16 * MIB + SLACK, "{most}");
    serves(at);
}

#[test]
fn memory_returns_once_the_client_has_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (gateway, at) = relay(&folder, &["--memory", "128MiB"]);
    let idle = resident(&gateway);
    let request = connect(fountain());
    let mut carrier = Carrier::new(at);
    for stream in 0..1200 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
    }
    let start = Instant::now();
    while resident(&gateway) < idle + 40 * MIB {
        assert!(start.elapsed() < TIMEOUT, "{}", resident(&gateway));
        thread::sleep(Duration::from_millis(50));
    }
    // CLOSE.
    carrier.send(&[8, 0, 0, 0, 0]);
    let start = Instant::now();
    while resident(&gateway) > idle + SLACK {
        assert!(start.elapsed() < TIMEOUT, "{}", resident(&gateway));
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn links_of_many_names_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    // An eighth of it has room for the read buffers of eight links.
    let (_gateway, at) = relay(&folder, &["--memory", "16MiB"]);
    let carriers: Vec<_> = (0..20)
        .map(|link| Carrier::join(at, [7; 16], &format!("link{link}")))
        .collect();
    assert_eq!(carriers.iter().filter(|joined| joined.is_ok()).count(), 8);
    // A link that has ended makes room.
    drop(carriers);
    let start = Instant::now();
    while Carrier::join(at, [7; 16], "another").is_err() {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_millis(50));
    }
}

/// Datagrams of 1000 bytes that a socket receives.
fn sink() -> (SocketAddr, Arc<AtomicU64>) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let at = socket.local_addr().unwrap();
    let bytes = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&bytes);
    thread::spawn(move || {
        let mut packet = [0; 2048];
        while let Ok((len, _)) = socket.recv_from(&mut packet) {
            counted.fetch_add(len as u64, Ordering::Relaxed);
        }
    });
    (at, bytes)
}

/// Sends datagrams as fast as the relay takes them.
fn flood(mut carrier: Carrier, target: SocketAddr) {
    carrier.send(&data(1, 0, &Request::Datagrams.to_bytes()));
    let mut datagrams = Vec::new();
    datagram::emit(&Target::from(target), &[0; 1000], &mut datagrams);
    // The window is never told: it is at least that many bytes, and grows with what is sent on.
    let reading = carrier.0.try_clone().unwrap();
    let limit = Arc::new(AtomicU64::new(64 << 10));
    let told = Arc::clone(&limit);
    thread::spawn(move || follow_windows(reading, &told));
    thread::spawn(move || {
        let mut offset = 1;
        loop {
            if offset + datagrams.len() as u64 > limit.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            } else if !carrier.send(&data(1, offset, &datagrams)) {
                return;
            } else {
                offset += datagrams.len() as u64;
            }
        }
    });
}

/// Reads frames, and keeps the newest limit of the first stream.
fn follow_windows(mut from: TcpStream, limit: &AtomicU64) {
    let mut field = |len: usize| {
        let mut bytes = vec![0; len];
        from.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    let number = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(0u64, |value, byte| value << 8 | u64::from(*byte))
    };
    while let Some(kind) = field(1) {
        let rest = match kind[0] {
            1 => {
                let Some(head) = field(15) else { return };
                field(number(&head[1..3]) as usize)
            }
            3 => field(12).inspect(|window| {
                limit.fetch_max(number(&window[4..]), Ordering::Relaxed);
            }),
            2 | 6 | 7 | 5 => field(8),
            4 => field(16),
            8 => field(4),
            _ => field(20),
        };
        if rest.is_none() {
            return;
        }
    }
}

/// Bytes that are counted in a time, and the most of a rate of 800 kbit/s in that time: twice the rate and a
/// burst.
fn measured(bytes: &AtomicU64) -> (u64, u64) {
    let start = Instant::now();
    let before = bytes.load(Ordering::Relaxed);
    thread::sleep(Duration::from_secs(3));
    let counted = bytes.load(Ordering::Relaxed) - before;
    (
        counted,
        (start.elapsed().as_secs_f64() * 200_000.0) as u64 + 20_000,
    )
}

#[test]
fn rate_binds_datagrams_of_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let (_gateway, at) = relay(&folder, &["--rate", "40kbit"]);
    let (target, received) = sink();
    flood(Carrier::new(at), target);
    let start = Instant::now();
    while received.load(Ordering::Relaxed) == 0 {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_millis(5));
    }
    let start = Instant::now();
    thread::sleep(Duration::from_secs(3));
    let counted = received.load(Ordering::Relaxed);
    // Twice the rate and a burst; the stream's first window is 64 KiB.
    let most = (start.elapsed().as_secs_f64() * 10_000.0) as u64 + 5_000;
    assert!(counted < most, "{counted} of {most}");
}

#[test]
fn rate_binds_datagrams_to_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let (_gateway, at) = relay(&folder, &["--rate", "800kbit"]);
    // A peer that answers one datagram with a flood.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut packet = [0; 2048];
        let (_, from) = socket.recv_from(&mut packet).unwrap();
        loop {
            let _ = socket.send_to(&[0; 1000], from);
            thread::sleep(Duration::from_micros(500));
        }
    });
    let mut carrier = Carrier::new(at);
    let mut says = Request::Datagrams.to_bytes();
    datagram::emit(&Target::from(target), b"begin", &mut says);
    carrier.send(&data(1, 0, &says));
    carrier.send(&window(1, u64::MAX / 2));
    assert_down_rate(carrier);
}

/// The relay sends at most twice its rate of 800 kbit/s. Acknowledges what arrives.
fn assert_down_rate(mut carrier: Carrier) {
    let received = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&received);
    thread::spawn(move || {
        let mut bytes = vec![0; 64 << 10];
        while let Ok(len @ 1..) = carrier.0.read(&mut bytes) {
            counted.fetch_add(len as u64, Ordering::Relaxed);
        }
    });
    let start = Instant::now();
    while received.load(Ordering::Relaxed) == 0 {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_millis(5));
    }
    let (counted, most) = measured(&received);
    assert!(counted < most, "{counted} of {most}");
}

#[test]
fn rate_binds_a_stream_to_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let (_gateway, at) = relay(&folder, &["--rate", "800kbit"]);
    let mut carrier = Carrier::new(at);
    carrier.send(&data(1, 0, &connect(fountain())));
    carrier.send(&window(1, u64::MAX / 2));
    assert_down_rate(carrier);
}

#[test]
fn rate_binds_streams_of_the_client_together() {
    let folder = tempfile::tempdir().unwrap();
    let (_gateway, at) = relay(&folder, &["--rate", "800kbit"]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let request = connect(listener.local_addr().unwrap());
    let received = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&received);
    thread::spawn(move || {
        for mut socket in listener.incoming().map_while(Result::ok) {
            let counted = Arc::clone(&counted);
            thread::spawn(move || {
                let mut bytes = vec![0; 64 << 10];
                while let Ok(len @ 1..) = socket.read(&mut bytes) {
                    counted.fetch_add(len as u64, Ordering::Relaxed);
                }
            });
        }
    });
    // Their initial windows are 3 MB together.
    let mut carrier = Carrier::new(at);
    for stream in 0..50 {
        carrier.send(&data(1 + 2 * stream, 0, &request));
        carrier.send(&data(1 + 2 * stream, request.len() as u64, &[0; 60_000]));
    }
    let start = Instant::now();
    while received.load(Ordering::Relaxed) == 0 {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_millis(5));
    }
    // One write of 60 kB at a time exceeds the burst.
    let (counted, most) = measured(&received);
    assert!(counted < most + 120_000, "{counted} of {most}");
}
