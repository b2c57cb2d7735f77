//! The responder of the handshake: authenticates clients.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Instant;

use subtle::ConstantTimeEq;

use super::handshake::{
    ANSWER, Acceptance, COOKIE, COOKIE_LEN, HELLO_HEAD, HelloLimiter, HelloPayload, Verdict, mark,
    purpose, random, since_1970,
};
use super::peer::Keys;
use super::refusal::Refusal;
use crate::keys::{Clients, PublicKey, SecretKey};
use crate::noise::Responder;

/// The responder, with its list of clients.
pub struct HandshakeResponder {
    secret: SecretKey,
    public: PublicKey,
    clients: Clients,
    limiter: HelloLimiter,
    instance: u64,
    newest: HashMap<PublicKey, Newest>,
    sealed: bool,
}

/// The newest accepted timestamp of a client: older ones are replays. If the client's clock was ahead of
/// ours, only timestamps up to our time plus [`AHEAD`] are refused, so that a client whose clock is corrected
/// is refused no longer than that. Accepting a replay is harmless: its sender has no keys.
#[derive(Clone, Copy, Debug)]
struct Newest {
    time: u64,
    /// Timestamps up to this are refused.
    until: u64,
}

/// In nanoseconds.
const AHEAD: u64 = 60_000_000_000;

impl Newest {
    /// Accepted when our clock was `ours`.
    fn new(time: u64, ours: u64) -> Newest {
        Newest {
            time,
            until: time.min(ours.saturating_add(AHEAD)),
        }
    }

    /// Whether a hello with this timestamp is new.
    fn admits(&self, time: u64) -> bool {
        time > self.until && time != self.time
    }
}

/// The reply to a hello.
pub enum Reply {
    /// A cookie that must be repeated with the next hello.
    Cookie(Vec<u8>),
    /// The client is accepted.
    Answer(Vec<u8>, Box<AcceptedClient>),
    /// The client is authenticated, but claims an address that is not its own.
    Reject(Vec<u8>),
}

/// A client that was accepted.
pub struct AcceptedClient {
    /// Its public key.
    pub key: PublicKey,
    /// Its name in the list of clients.
    pub name: String,
    /// The payload of its hello.
    pub hello: HelloPayload,
    /// The new keys, to be used once the client has used them.
    pub keys: Keys,
}

impl HandshakeResponder {
    /// With this list of clients.
    #[must_use]
    pub fn new(now: Instant, secret: SecretKey, clients: Clients) -> HandshakeResponder {
        HandshakeResponder {
            public: secret.public(),
            secret,
            clients,
            limiter: HelloLimiter::new(now),
            instance: random(),
            newest: HashMap::new(),
            sealed: true,
        }
    }

    /// Sets whether the tunnel's datagrams are encrypted.
    #[must_use]
    pub fn sealed(mut self, sealed: bool) -> HandshakeResponder {
        self.sealed = sealed;
        self
    }

    /// Replaces the list of clients.
    pub fn set_clients(&mut self, clients: Clients) {
        self.clients = clients;
    }

    /// Handles a hello: the reply, with the client if it is accepted.
    ///
    /// # Errors
    /// Why no reply is sent.
    pub fn on_hello(
        &mut self,
        now: Instant,
        from: SocketAddr,
        datagram: &[u8],
    ) -> Result<Reply, Refusal> {
        let (head, message) = datagram
            .split_at_checked(HELLO_HEAD)
            .ok_or(Refusal::Malformed)?;
        let link = head[1];
        let (cookie, mark_of) = head[2..].split_at(COOKIE_LEN);
        if !bool::from(mark(&self.public, message).ct_eq(mark_of)) {
            return Err(Refusal::WrongKey);
        }
        if let Verdict::Cookie(cookie) = self.limiter.check(now, from, cookie) {
            let mut reply = vec![COOKIE, link];
            reply.extend_from_slice(&cookie);
            return Ok(Reply::Cookie(reply));
        }
        let read = Responder::read(purpose(self.sealed), &self.secret, message);
        let (responder, payload) = read.map_err(|_| Refusal::WrongKey)?;
        let key = *responder.peer();
        let client = self.clients.get(&key).ok_or(Refusal::UnknownClient)?;
        let hello = HelloPayload::parse(&payload).ok_or(Refusal::Malformed)?;
        let newest = self.newest.get(&key);
        if newest.is_some_and(|newest| !newest.admits(hello.time)) {
            return Err(Refusal::ReplayedHandshake);
        }
        let time = since_1970();
        self.newest.insert(key, Newest::new(hello.time, time));
        let is_own = |address| client.addresses.contains(address);
        let ours = random() as u32;
        let acceptance = match hello.addresses.iter().all(is_own) {
            true => Acceptance::Accepted {
                session: ours,
                instance: self.instance,
                time,
            },
            false => Acceptance::ForeignAddress,
        };
        let (message, session) = responder.answer(&acceptance.to_bytes());
        let mut reply = vec![ANSWER, link];
        reply.extend_from_slice(&hello.session.to_be_bytes());
        reply.extend_from_slice(&message);
        if acceptance == Acceptance::ForeignAddress {
            return Ok(Reply::Reject(reply));
        }
        let accepted = AcceptedClient {
            key,
            name: client.name.clone(),
            keys: Keys {
                session: self.sealed.then_some(session),
                ours,
                theirs: hello.session,
                instance: hello.instance,
                since: now,
            },
            hello,
        };
        Ok(Reply::Answer(reply, Box::new(accepted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::dialer::Dialer;
    use std::net::IpAddr;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn secrets() -> [SecretKey; 2] {
        [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]))
    }

    /// A responder that has the second secret, and knows the first with two addresses.
    fn responder(now: Instant) -> HandshakeResponder {
        let [van, relay] = secrets();
        let own = vec![ip("10.9.0.2"), ip("fd00:9::2")];
        HandshakeResponder::new(now, relay, Clients::of_one("van", van.public(), own))
    }

    fn dialer(addresses: &[&str]) -> Dialer {
        let [van, relay] = secrets();
        let addresses = addresses.iter().map(|text| ip(text)).collect();
        Dialer::new(van, relay.public(), addresses)
    }

    #[test]
    fn a_client_comes_in_with_its_own_addresses_and_no_others() {
        let now = Instant::now();
        let from = "192.0.2.1:4000".parse().unwrap();
        for (wanted, comes_in) in [
            (&["10.9.0.2"][..], true),
            (&["fd00:9::2"], true),
            (&["10.9.0.2", "fd00:9::2"], true),
            // Another's, the relay's, anybody's; beside one of its own.
            (&["10.9.0.3"], false),
            (&["10.9.0.1"], false),
            (&["8.8.8.8"], false),
            (&["10.9.0.2", "8.8.8.8"], false),
        ] {
            let mut dialer = dialer(wanted);
            let hello = dialer.hello(now, &[0]).1;
            let reply = responder(now).on_hello(now, from, &hello);
            let keys = match reply.ok().unwrap() {
                Reply::Answer(reply, accepted) => {
                    let wanted: Vec<IpAddr> = wanted.iter().map(|text| ip(text)).collect();
                    assert_eq!(accepted.hello.addresses, wanted);
                    dialer.on_answer(now, &reply)
                }
                Reply::Reject(reply) => dialer.on_answer(now, &reply),
                Reply::Cookie(_) => panic!("a first hello was asked for a cookie"),
            };
            match comes_in {
                true => assert!(keys.is_ok(), "{wanted:?}"),
                false => assert_eq!(keys.err(), Some(Refusal::TurnedAway), "{wanted:?}"),
            }
        }
    }

    #[test]
    fn who_does_not_know_the_relay_s_key_gets_no_cookie_either() {
        let now = Instant::now();
        let from = "192.0.2.1:4000".parse().unwrap();
        let [van, _] = secrets();
        let mut responder = responder(now);
        let mut stranger = Dialer::new(van.clone(), van.public(), vec![ip("10.9.0.2")]);
        let mut dialer = dialer(&["10.9.0.2"]);
        let mut cookies = 0;
        for _ in 0..100 {
            let hello = stranger.hello(now, &[0]).1;
            let refused = responder.on_hello(now, from, &hello).err();
            assert_eq!(refused, Some(Refusal::WrongKey));
            let hello = dialer.hello(now, &[0]).1;
            cookies += i32::from(matches!(
                responder.on_hello(now, from, &hello),
                Ok(Reply::Cookie(_))
            ));
        }
        assert_eq!(cookies, 80);
    }

    const SECOND: u64 = 1_000_000_000;
    const HOUR: u64 = 3600 * SECOND;

    #[test]
    fn what_is_not_newer_is_refused() {
        let newest = Newest::new(HOUR, HOUR + SECOND);
        assert!(!newest.admits(HOUR) && !newest.admits(HOUR - SECOND));
        assert!(newest.admits(HOUR + 1));
    }

    #[test]
    fn a_clock_that_was_ahead_and_is_set_right_is_refused_for_a_minute() {
        let newest = Newest::new(HOUR * 2, HOUR);
        assert!(!newest.admits(HOUR) && !newest.admits(HOUR + 60 * SECOND));
        assert!(newest.admits(HOUR + 61 * SECOND));
        // The very same again is a replay for ever.
        assert!(!newest.admits(HOUR * 2));
    }
}
