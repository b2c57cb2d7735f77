//! Arbitrary datagrams for either end of a tunnel: the property that a fuzz target and the replay of its
//! corpus share.
//!
//! The end under test is a complete [`Engine`] with /dev/null for a device. Its session is not encrypted, so that any
//! frames reach it as frames of an authenticated peer. Striping runs in virtual time, keys in real time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use ropewalk_quantities::Bytes;
use ropewalk_wire::gateway::tunnel::TunnelHeader;

use super::{Engine, HandshakeRole};
use crate::Link;
use crate::keys::{Clients, SecretKey};
use crate::links::Egress;
use crate::prefix::Prefix;
use crate::tunnel::bind;
use crate::tunnel::config::{Config, Role};
use crate::tunnel::control::Control;
use crate::tunnel::cookie::HelloKeys;
use crate::tunnel::device::Device;
use crate::tunnel::dialer::Dialer;
use crate::tunnel::handshake::{
    ANSWER, HELLO, HELLO_HEAD, HELLO_LENGTHS, HELLO_MARK, MAX_ADDRESSES,
};
use crate::tunnel::link_path::Path;
use crate::tunnel::responder::{HandshakeResponder, Reply};
use crate::tunnel::sockets::TunnelSockets;
use crate::tunnel::status::TunnelStatus;

/// The relay's address and port; nothing listens there.
const RELAY: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 77, 0, 1)), 9);
/// The client's addresses on two links, and in the tunnel.
pub(super) const LINKS: [[u8; 4]; 2] = [[127, 77, 0, 2], [127, 77, 0, 3]];
const INNER: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 9, 0, 2));
/// Size of the reordering buffer in bytes.
const BUFFER: u64 = 64 << 10;

/// Counts of one run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Datagrams that the end accepted.
    pub taken: usize,
    /// Datagrams that it refused.
    pub refused: usize,
}

/// Checks that either end neither panics nor stores an unbounded amount, for any input from a peer or a stranger.
///
/// The first byte selects the end: the relay if it is even, else the client. Each datagram has three bytes in front:
/// a delay (milliseconds up to 199, then seconds), a link (lowest bit) and another source (next bit), and its length.
/// In a datagram of a session, the identifier is replaced by the session's. A hello gets a valid mark.
///
/// # Panics
/// The property does not hold.
#[must_use]
pub fn check(bytes: &[u8]) -> Tally {
    let mut tally = Tally::default();
    let Some((end, mut bytes)) = bytes.split_first() else {
        return tally;
    };
    let is_relay = end % 2 == 0;
    let mut engine = established(is_relay);
    let session = *engine.sessions.keys().next().expect("a session");
    while let [delay, route, len, rest @ ..] = bytes {
        let (datagram, others) = rest.split_at(usize::from(*len).min(rest.len()));
        bytes = others;
        let delay = match delay {
            0..200 => Duration::from_millis(u64::from(*delay)),
            _ => Duration::from_secs(u64::from(*delay) - 199),
        };
        engine.epoch -= delay;
        let link = usize::from(route & 1);
        let remote = match (is_relay, route & 2) {
            (true, 0) => SocketAddr::from((LINKS[link], 1000)),
            (false, 0) => RELAY,
            (_, _) => SocketAddr::from(([127, 77, 1, *route], 7)),
        };
        let mut datagram = datagram.to_vec();
        complete(&mut datagram, session);
        let socket = if is_relay { 0 } else { link };
        let path = Path::new(socket, remote, None);
        let now = engine.now();
        match engine.on_datagram(now, path, &mut datagram) {
            Ok(()) => tally.taken += 1,
            Err(why) => {
                engine.refuse(remote, why);
                tally.refused += 1;
            }
        }
        engine.flush_device();
        engine.handle_timers();
        engine.update_terms();
        engine.update_mtu();
        engine.deliver();
        engine.transmit();
        let _ = engine.timeout();
        check_engine(&engine);
    }
    engine.publish();
    tally
}

/// Changes a datagram so that it passes the first checks of the end.
fn complete(datagram: &mut [u8], session: u32) {
    match datagram.first() {
        Some(&TunnelHeader::KIND) if datagram.len() >= TunnelHeader::LEN => {
            let header = TunnelHeader::parse(datagram);
            if let Some(header) = header {
                let header = TunnelHeader { session, ..header };
                datagram[..TunnelHeader::LEN].copy_from_slice(&header.to_bytes());
            }
        }
        Some(&HELLO) if HELLO_LENGTHS.contains(&datagram.len()) => {
            let mark = HelloKeys::of(&secret(1).public()).mark(&datagram[HELLO_HEAD..]);
            datagram[HELLO_MARK].copy_from_slice(&mark);
        }
        _ => {}
    }
}

fn check_engine(engine: &Engine) {
    assert_eq!(engine.peers.len(), 1);
    assert!(engine.sessions.len() <= 3, "{:?}", engine.sessions);
    assert!(engine.addresses.len() <= MAX_ADDRESSES);
    let peer = &engine.peers[0];
    // A packet of a datagram is accepted before the limit is checked.
    let held = peer.receiver.held();
    assert!(held <= BUFFER + u64::from(u16::MAX), "{held}");
}

/// Returns the end under test, after a handshake with the other one.
fn established(is_relay: bool) -> Engine {
    let (relay, client) = both_established(RELAY, false);
    if is_relay { relay } else { client }
}

/// Returns a relay and its client, which sends to the address `at`, after a handshake.
pub(super) fn both_established(at: SocketAddr, naive: bool) -> (Engine, Engine) {
    let (mut relay, mut client) = (relay(naive), client(at, naive));
    let HandshakeRole::Initiator(dialer) = &mut client.end else {
        unreachable!("the client dials")
    };
    let now = Instant::now();
    let (_, hello) = dialer.hello(now, &[0, 1]);
    let HandshakeRole::Responder(responder) = &mut relay.end else {
        unreachable!("the relay answers")
    };
    let from = SocketAddr::from((LINKS[0], 1000));
    let reply = responder.on_hello(now, from, &hello, |_| false, |_| false);
    let Ok(Reply::Answer(answer, accepted)) = reply else {
        unreachable!("the client is listed")
    };
    assert_eq!(answer[0], ANSWER);
    relay.accept(*accepted);
    let now = client.now();
    client
        .on_answer(now, 0, &answer)
        .expect("the relay's answer");
    (relay, client)
}

fn secret(byte: u8) -> SecretKey {
    SecretKey::from_bytes([byte; 32])
}

fn relay(naive: bool) -> Engine {
    let clients = Clients::of_one("van", secret(2).public(), vec![INNER]);
    let at = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let role = Role::Listen {
        at,
        clients: clients.clone(),
    };
    let config = config(secret(1), role, "10.9.0.1/24", naive);
    let sockets = bind::sockets(&config).expect("a socket on loopback");
    let ids = sockets.session_ids();
    let responder = HandshakeResponder::new(Instant::now(), secret(1), clients, ids);
    let end = HandshakeRole::Responder(Box::new(responder.sealed(false)));
    engine(end, sockets, &config)
}

fn client(relay: SocketAddr, naive: bool) -> Engine {
    let links = LINKS.iter().enumerate().map(|(number, address)| {
        let address = Ipv4Addr::from(*address).into();
        Link::new(number.to_string(), Egress::Address(address))
    });
    let role = Role::Dial {
        relays: vec![relay],
        key: secret(1).public(),
        links: links.collect(),
    };
    let config = config(secret(2), role, "10.9.0.2/24", naive);
    let sockets = bind::sockets(&config).expect("sockets on loopback");
    let ids = sockets.session_ids();
    let dialer = Dialer::new(secret(2), secret(1).public(), vec![INNER], ids);
    let end = HandshakeRole::Initiator(Box::new(dialer.sealed(false)));
    engine(end, sockets, &config)
}

fn config(secret: SecretKey, role: Role, own: &str, naive: bool) -> Config {
    let own: Prefix = own.parse().expect("a prefix");
    let mut config = Config::new(secret, role, vec![own]);
    config.buffer = Bytes::new(BUFFER);
    config.sealed = false;
    config.naive = naive;
    config
}

fn engine(end: HandshakeRole, sockets: TunnelSockets, config: &Config) -> Engine {
    let control = Control::new(TunnelStatus::default()).expect("an eventfd");
    let device = Device::null().expect("/dev/null");
    Engine::new(end, (device, None), (sockets, None, None), config, control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hold_accepts_random_datagrams() {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fuzz/corpus/tunnel_end"
        );
        let mut count = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let _ = check(&std::fs::read(entry.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count > 0);
    }

    #[test]
    fn hold_counts_accepted_and_refused_datagrams() {
        let header = TunnelHeader {
            session: 0,
            link: 0,
            sequence: 1,
        };
        let ping = [&header.to_bytes()[..], &[0, 0, 0, 1]].concat();
        let record = |datagram: &[u8]| [&[5, 0, datagram.len() as u8], datagram].concat();
        let of = |end: u8| {
            [
                &[end][..],
                &record(&ping),
                &record(&ping),
                &record(&[9; 40]),
            ]
            .concat()
        };
        let expected = Tally {
            taken: 1,
            refused: 2,
        };
        assert_eq!(
            [check(&of(0)), check(&of(1))],
            [&expected; 2].map(|_| Tally { ..expected })
        );
    }
}
