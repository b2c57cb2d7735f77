//! Authenticated ends of a tunnel that send arbitrary frames: a minimal client and a minimal relay, without a
//! device, a scheduler or timers.
//!
//! ```no_run
//! let mut session = Client::new(secret, relay_key, &["10.9.0.2"]).connect(socket, relay);
//! session.send(0, &[TunnelFrame::Ping(7)]);
//! let (link, frames) = session.receive().unwrap();
//! ```

use std::net::{IpAddr, SocketAddr, SocketAddrV4, UdpSocket};
use std::time::{Duration, Instant, SystemTime};

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use ropewalk_gateway::keys::{PublicKey, SecretKey};
use ropewalk_gateway::noise::{Initiator, Purpose, Responder, SessionKeys, TAG_LEN};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};

pub const HELLO: u8 = 1;
pub const ANSWER: u8 = 2;
pub const COOKIE: u8 = 3;
/// Bytes of a hello before Noise's message: kind, link, proof of a cookie, mark.
pub const HELLO_HEAD: usize = 34;

/// How long an end waits for a reply.
const WAIT: Duration = Duration::from_millis(500);
const TRIES: usize = 40;

pub struct Client {
    secret: SecretKey,
    relay: PublicKey,
    addresses: Vec<IpAddr>,
    instance: u64,
}

pub struct Hello {
    pub bytes: Vec<u8>,
    noise: Initiator,
    ours: u32,
}

pub struct Session {
    pub socket: UdpSocket,
    pub peer: SocketAddr,
    /// Identifier in datagrams to the other end.
    pub theirs: u32,
    /// Identifier in datagrams to this end.
    pub ours: u32,
    keys: SessionKeys,
    /// The next sequence of each link.
    next: [u64; TunnelHeader::MAX_LINK as usize + 1],
    epoch: Instant,
}

impl Client {
    pub fn new(secret: SecretKey, relay: PublicKey, addresses: &[&str]) -> Client {
        Client {
            secret,
            relay,
            addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
            instance: u64::from_be_bytes(random()),
        }
    }

    /// Returns a hello on a link, without a cookie.
    pub fn hello(&self, link: u8) -> Hello {
        let ours = u32::from_be_bytes(random());
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut payload = ours.to_be_bytes().to_vec();
        payload.extend(self.instance.to_be_bytes());
        payload.extend((time.unwrap().as_nanos() as u64).to_be_bytes());
        for address in &self.addresses {
            let address = match address {
                IpAddr::V4(address) => address.to_ipv6_mapped(),
                IpAddr::V6(address) => *address,
            };
            payload.extend(address.octets());
        }
        let (noise, message) = Initiator::new(Purpose::Tunnel, &self.secret, &self.relay, &payload);
        let mut bytes = vec![HELLO, link];
        bytes.extend([0; 16]);
        bytes.extend(mark(&self.relay, &message));
        bytes.extend(message);
        Hello { bytes, noise, ours }
    }

    /// Completes a handshake on link 0.
    pub fn connect(&self, socket: UdpSocket, relay: SocketAddr) -> Session {
        socket.set_read_timeout(Some(WAIT)).unwrap();
        let mut buffer = [0; 2048];
        for _ in 0..TRIES {
            let hello = self.hello(0);
            socket.send_to(&hello.bytes, relay).unwrap();
            while let Ok((len, _)) = socket.recv_from(&mut buffer) {
                // On a busy machine, the answer to an earlier hello may arrive late.
                if buffer[0] == ANSWER && buffer[2..6] == hello.ours.to_be_bytes() {
                    return hello.finish(&buffer[..len], socket, relay);
                }
            }
        }
        panic!("the relay does not accept this client");
    }
}

impl Hello {
    pub fn finish(mut self, answer: &[u8], socket: UdpSocket, relay: SocketAddr) -> Session {
        assert_eq!(answer[2..6], self.ours.to_be_bytes());
        let (keys, payload) = self.noise.finish(&answer[6..]).unwrap();
        assert_eq!(payload.len(), 20, "the relay refuses this client");
        let theirs = u32::from_be_bytes(payload[..4].try_into().unwrap());
        Session::new(socket, relay, keys, (self.ours, theirs))
    }
}

/// Waits for a client's hello and accepts it, as the relay with this key.
pub fn accept(socket: UdpSocket, secret: &SecretKey) -> Session {
    socket.set_read_timeout(Some(WAIT)).unwrap();
    let mut buffer = [0; 2048];
    for _ in 0..TRIES {
        let Ok((len @ HELLO_HEAD.., from)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        let read = Responder::read(Purpose::Tunnel, secret, &buffer[HELLO_HEAD..len]);
        let Ok((responder, payload)) = read else {
            continue;
        };
        let theirs: [u8; 4] = payload[..4].try_into().unwrap();
        let ours: [u8; 4] = random();
        let mut acceptance = ours.to_vec();
        acceptance.extend(random::<8>());
        acceptance.extend(&payload[12..20]);
        let (message, keys) = responder.answer(&acceptance);
        let answer = [&[ANSWER, buffer[1]][..], &theirs, &message].concat();
        socket.send_to(&answer, from).unwrap();
        let (ours, theirs) = (u32::from_be_bytes(ours), u32::from_be_bytes(theirs));
        return Session::new(socket, from, keys, (ours, theirs));
    }
    panic!("no client");
}

impl Session {
    fn new(
        socket: UdpSocket,
        peer: SocketAddr,
        keys: SessionKeys,
        (ours, theirs): (u32, u32),
    ) -> Session {
        Session {
            socket,
            peer,
            theirs,
            ours,
            keys,
            next: [0; TunnelHeader::MAX_LINK as usize + 1],
            epoch: Instant::now(),
        }
    }

    /// Encrypts encoded frames with that sequence on that link.
    pub fn seal_as(&self, link: u8, sequence: u64, frames: &[u8]) -> Vec<u8> {
        let header = TunnelHeader {
            link,
            session: self.theirs,
            sequence,
        };
        let clock = (self.epoch.elapsed().as_micros() as u32).to_be_bytes();
        let mut datagram = [&header.to_bytes()[..], &clock, frames].concat();
        let (head, body) = datagram.split_at_mut(TunnelHeader::LEN);
        let tag = self.keys.seal.seal(header.number(), head, body);
        datagram.extend(tag);
        datagram
    }

    /// Encrypts encoded frames as the next datagram of a link.
    pub fn seal(&mut self, link: u8, frames: &[u8]) -> Vec<u8> {
        let sequence = self.next[usize::from(link)];
        self.next[usize::from(link)] += 1;
        self.seal_as(link, sequence, frames)
    }

    pub fn send(&mut self, link: u8, frames: &[TunnelFrame<'_>]) {
        let mut encoded = Vec::new();
        for frame in frames {
            frame.emit(&mut encoded);
        }
        let datagram = self.seal(link, &encoded);
        self.socket.send_to(&datagram, self.peer).unwrap();
    }

    pub fn open(&self, datagram: &mut [u8]) -> Option<(u8, Vec<u8>)> {
        let header = TunnelHeader::parse(datagram).filter(|header| header.session == self.ours)?;
        let (head, sealed) = datagram.split_at_mut(TunnelHeader::LEN);
        let opened = self.keys.open.open(header.number(), head, sealed).ok()?;
        Some((header.link, opened[TunnelFrame::CLOCK_LEN..].to_vec()))
    }

    /// Returns link and encoded frames of the next datagram of the session; `None` after a timeout.
    pub fn receive(&self) -> Option<(u8, Vec<u8>)> {
        let mut buffer = [0; 65_536];
        let end = Instant::now() + WAIT;
        while Instant::now() < end {
            let Ok((len, _)) = self.socket.recv_from(&mut buffer) else {
                return None;
            };
            if len >= TunnelHeader::LEN + TAG_LEN
                && let Some(opened) = self.open(&mut buffer[..len])
            {
                return Some(opened);
            }
        }
        None
    }

    /// Replies to the pings among encoded frames, as an honest end does.
    pub fn reply(&mut self, link: u8, frames: &[u8]) {
        for frame in TunnelFrame::parse_all(frames) {
            if let Ok(TunnelFrame::Ping(token @ 1..)) = frame {
                self.send(link, &[TunnelFrame::Pong(token)]);
            }
        }
    }

    /// Sends a ping on a link until it is answered there, and replies to pings.
    pub fn until_answered(&mut self, link: u8) {
        for _ in 0..TRIES {
            let token = u32::from_be_bytes(random()) | 1;
            self.send(link, &[TunnelFrame::Ping(token)]);
            while let Some((by, frames)) = self.receive() {
                self.reply(by, &frames);
                let mut frames = TunnelFrame::parse_all(&frames);
                if by == link && frames.any(|frame| frame == Ok(TunnelFrame::Pong(token))) {
                    return;
                }
            }
        }
        panic!("no answer on link {link}");
    }
}

/// Computes the mark of a hello (mac1): a MAC of Noise's message under the responder's public key.
pub fn mark(relay: &PublicKey, message: &[u8]) -> [u8; 16] {
    let key = [b"ropewalk tunnel mark", &relay.as_bytes()[..]].concat();
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), message);
    tag.as_ref()[..16].try_into().unwrap()
}

/// Sends an IPv4 datagram with a forged source, by a raw socket (raw(7), IPPROTO_RAW).
pub fn forge(raw: &socket2::Socket, from: SocketAddrV4, to: SocketAddrV4, payload: &[u8]) {
    // The kernel sets the length and the checksum of the IP header; UDP has no checksum.
    let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0];
    packet.extend(from.ip().octets());
    packet.extend(to.ip().octets());
    for field in [from.port(), to.port(), 8 + payload.len() as u16, 0] {
        packet.extend(field.to_be_bytes());
    }
    packet.extend(payload);
    let to = SocketAddrV4::new(*to.ip(), 0);
    // A full queue loses packets, as on any network.
    let _ = raw.send_to(&packet, &to.into());
}

pub fn raw_socket() -> socket2::Socket {
    let protocol = socket2::Protocol::from(255);
    socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::RAW, Some(protocol)).unwrap()
}

pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).unwrap();
    bytes
}
