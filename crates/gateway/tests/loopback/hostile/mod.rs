//! An authenticated hostile client: every limit of a client against every kind of frame.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use ropewalk_gateway::request::{Request, Target};
use ropewalk_wire::gateway::Join;

use crate::gateways::{Gateway, with_timeouts};

mod memory;
mod rate;

/// A relay for any client, with these options.
fn relay(folder: &tempfile::TempDir, options: &[&str]) -> (Gateway, SocketAddr) {
    let relay = Gateway::start_words(&format!(
        "relay --plaintext --listen 127.0.0.1:0 --allow loopback --control {} {}",
        folder.path().join("relay.sock").display(),
        options.join(" ")
    ));
    let at = relay.wait_for("relay listens on ").parse().unwrap();
    (relay, at)
}

/// A carrier that sends arbitrary bytes.
struct Carrier(TcpStream);

impl Carrier {
    /// Joins an association. An error is the second byte of the relay's answer.
    fn join(at: SocketAddr, association: [u8; 16], link: &str) -> Result<Carrier, u8> {
        let mut socket = with_timeouts(TcpStream::connect(at).unwrap());
        let mut request_bytes = b"RPWK\x01\x00".to_vec();
        let join = Join {
            association,
            resumes: false,
            cost: 1000,
            quota: None,
            priority: 0,
            link: link.to_owned(),
            scheduler: "earliest-arrival".to_owned(),
        };
        join.emit(&mut request_bytes);
        socket.write_all(&request_bytes).unwrap();
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

    /// Sends bytes; returns whether the relay still accepts them.
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

fn endless_source() -> SocketAddr {
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
