//! Responder of the handshake: authenticates clients.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use ropewalk_quantities::Rate;
use subtle::ConstantTimeEq;

use super::cookie::{COOKIE_MESSAGE_LEN, HelloKeys};
use super::handshake::{
    ANSWER, Acceptance, HELLO_HEAD, HELLO_LENGTHS, HELLO_MARK, HelloPayload, purpose, random,
    since_1970,
};
use super::hello_limiter::{HelloDecision, HelloLimiter};
use super::peer::Keys;
use super::refusal::Refusal;
use super::session_ids::SessionIds;
use crate::keys::{Clients, PublicKey, SecretKey};
use crate::noise::Responder;

pub struct HandshakeResponder {
    secret: SecretKey,
    hello_keys: HelloKeys,
    clients: Clients,
    limiter: HelloLimiter,
    ids: SessionIds,
    instance: u64,
    newest: HashMap<PublicKey, NewestTimestamp>,
    sealed: bool,
}

/// The newest accepted timestamp of a client; older ones are replays.
///
/// If the client's clock was ahead of ours, only timestamps up to our time plus [`AHEAD`] are refused, so
/// that a client whose clock is corrected is refused no longer than that. Accepting a replay is harmless: its
/// sender has no keys.
#[derive(Clone, Copy, Debug)]
struct NewestTimestamp {
    time: u64,
    /// Timestamps up to this are refused.
    until: u64,
}

/// In nanoseconds.
const AHEAD: u64 = 60_000_000_000;

impl NewestTimestamp {
    /// Creates it from a timestamp that was accepted when our clock was `ours`.
    fn new(time: u64, ours: u64) -> NewestTimestamp {
        NewestTimestamp {
            time,
            until: time.min(ours.saturating_add(AHEAD)),
        }
    }

    fn admits(&self, time: u64) -> bool {
        time > self.until && time != self.time
    }
}

pub enum Reply {
    /// A cookie, which the next hello must prove.
    Cookie([u8; COOKIE_MESSAGE_LEN]),
    Answer(Vec<u8>, Box<AcceptedClient>),
    /// The client is authenticated, but claims an address that is not its own.
    Reject(Vec<u8>),
}

pub struct AcceptedClient {
    pub key: PublicKey,
    pub name: String,
    pub rate: Option<Rate>,
    pub hello: HelloPayload,
    /// Source of its hello, at which it receives once it uses the keys.
    pub from: SocketAddr,
    /// The new keys, which take effect once the client has used them.
    pub keys: Keys,
}

impl HandshakeResponder {
    #[must_use]
    pub fn new(
        now: Instant,
        secret: SecretKey,
        clients: Clients,
        ids: SessionIds,
    ) -> HandshakeResponder {
        HandshakeResponder {
            hello_keys: HelloKeys::of(&secret.public()),
            secret,
            clients,
            limiter: HelloLimiter::new(now),
            ids,
            instance: random(),
            newest: HashMap::new(),
            sealed: true,
        }
    }

    #[must_use]
    pub fn sealed(mut self, sealed: bool) -> HandshakeResponder {
        self.sealed = sealed;
        self
    }

    pub fn set_clients(&mut self, clients: Clients) {
        self.clients = clients;
    }

    /// Handles a hello; returns the reply, with the client if it is accepted, or why there is no reply. `is_known`
    /// returns whether a client is connected from a source, `is_taken` whether a session has an identifier.
    ///
    /// Each reply is shorter than its hello, so that forged sources amplify nothing.
    pub fn on_hello(
        &mut self,
        now: Instant,
        from: SocketAddr,
        datagram: &[u8],
        is_known: impl FnOnce(IpAddr) -> bool,
        is_taken: impl Fn(u32) -> bool,
    ) -> Result<Reply, Refusal> {
        if !HELLO_LENGTHS.contains(&datagram.len()) {
            return Err(Refusal::Malformed);
        }
        let (head, message) = datagram.split_at(HELLO_HEAD);
        let (link, mark) = (head[1], &head[HELLO_MARK]);
        if !bool::from(self.hello_keys.mark(message).ct_eq(mark)) {
            return Err(Refusal::WrongKey);
        }
        match self.limiter.check(now, from, datagram, is_known) {
            HelloDecision::Read => {}
            HelloDecision::Drop => return Err(Refusal::TooManyHandshakes),
            HelloDecision::Cookie(cookie) => {
                let reply = self.hello_keys.seal_cookie(link, mark, cookie);
                return Ok(Reply::Cookie(reply));
            }
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
        self.newest
            .insert(key, NewestTimestamp::new(hello.time, time));
        let is_own = |address| client.addresses.contains(address);
        let ours = self.ids.draw(is_taken);
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
            rate: client.limits.rate,
            keys: Keys {
                session: self.sealed.then_some(session),
                ours,
                theirs: hello.session,
                instance: hello.instance,
                since: now,
            },
            hello,
            from,
        };
        Ok(Reply::Answer(reply, Box::new(accepted)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tunnel::dialer::Dialer;
    use crate::tunnel::handshake::COOKIE_LEN;
    use std::time::Duration;

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
        let clients = Clients::of_one("van", van.public(), own);
        HandshakeResponder::new(now, relay, clients, SessionIds::new(0xabcd, 0))
    }

    fn reply(
        responder: &mut HandshakeResponder,
        now: Instant,
        hello: &[u8],
    ) -> Result<Reply, Refusal> {
        let from = "192.0.2.1:4000".parse().unwrap();
        responder.on_hello(now, from, hello, |_| false, |_| false)
    }

    /// A responder that replies to hellos without a cookie's proof by a cookie.
    fn responder_under_load(now: Instant) -> HandshakeResponder {
        let mut responder = responder(now);
        let mut dialer = dialer(&["10.9.0.2"]);
        loop {
            let hello = dialer.hello(now, &[0]).1;
            if let Ok(Reply::Cookie(_)) = reply(&mut responder, now, &hello) {
                return responder;
            }
        }
    }

    fn dialer(addresses: &[&str]) -> Dialer {
        let [van, relay] = secrets();
        let addresses = addresses.iter().map(|text| ip(text)).collect();
        Dialer::new(van, relay.public(), addresses, SessionIds::new(0x1234, 0))
    }

    #[test]
    fn client_is_accepted_only_with_its_own_addresses() {
        let now = Instant::now();
        for (wanted, comes_in) in [
            (&["10.9.0.2"][..], true),
            (&["fd00:9::2"], true),
            (&["10.9.0.2", "fd00:9::2"], true),
            // Another client's, the relay's, an unknown one; one besides its own.
            (&["10.9.0.3"], false),
            (&["10.9.0.1"], false),
            (&["8.8.8.8"], false),
            (&["10.9.0.2", "8.8.8.8"], false),
        ] {
            let mut dialer = dialer(wanted);
            let hello = dialer.hello(now, &[0]).1;
            let reply = reply(&mut responder(now), now, &hello);
            let keys = match reply.ok().unwrap() {
                Reply::Answer(reply, accepted) => {
                    let wanted: Vec<IpAddr> = wanted.iter().map(|text| ip(text)).collect();
                    assert_eq!(accepted.hello.addresses, wanted);
                    dialer.on_answer(now, 0, &reply)
                }
                Reply::Reject(reply) => dialer.on_answer(now, 0, &reply),
                Reply::Cookie(_) => panic!("a first hello was asked for a cookie"),
            };
            match comes_in {
                true => assert!(keys.is_ok(), "{wanted:?}"),
                false => assert_eq!(keys.err(), Some(Refusal::RefusedByRelay), "{wanted:?}"),
            }
        }
    }

    #[test]
    fn hello_with_a_wrong_mark_gets_no_cookie() {
        let now = Instant::now();
        let [van, _] = secrets();
        let mut responder = responder_under_load(now);
        let addresses = vec![ip("10.9.0.2")];
        let ids = SessionIds::new(0x1234, 0);
        let mut stranger = Dialer::new(van.clone(), van.public(), addresses, ids);
        let hello = stranger.hello(now, &[0]).1;
        let refused = reply(&mut responder, now, &hello).err();
        assert_eq!(refused, Some(Refusal::WrongKey));
    }

    #[test]
    fn hello_with_cookie_is_answered_under_load() {
        let now = Instant::now();
        let mut responder = responder_under_load(now);
        let mut dialer = dialer(&["10.9.0.2"]);
        let (link, hello) = dialer.hello(now, &[0, 1]);
        assert_eq!(hello[2..18], [0; COOKIE_LEN]);
        let Ok(Reply::Cookie(cookie)) = reply(&mut responder, now, &hello) else {
            panic!("a hello without a cookie was read");
        };
        assert!(cookie.len() < hello.len());
        dialer.on_cookie(now, link.unwrap(), &cookie).unwrap();
        let (again, hello) = dialer.hello(now, &[0, 1]);
        assert_eq!(again, link, "a cookie is worth nothing on another link");
        assert_ne!(hello[2..18], [0; COOKIE_LEN]);
        let Ok(Reply::Answer(answer, accepted)) = reply(&mut responder, now, &hello) else {
            panic!("a hello with a cookie was not answered");
        };
        assert!(answer.len() < hello.len());
        assert_eq!(accepted.keys.ours >> 16, 0xabcd);
        assert!(dialer.on_answer(now, 0, &answer).is_ok());
    }

    #[test]
    fn reply_is_shorter_than_its_hello() {
        let now = Instant::now();
        let mut responder = responder_under_load(now);
        let [_, relay] = secrets();
        let keys = HelloKeys::of(&relay.public());
        for len in 0..1500 {
            let mut hello = vec![0; len];
            if len >= HELLO_HEAD {
                hello[0] = 1;
                let mark = keys.mark(&hello[HELLO_HEAD..]);
                hello[HELLO_MARK].copy_from_slice(&mark);
            }
            match reply(&mut responder, now, &hello) {
                Ok(Reply::Cookie(reply)) => assert!(reply.len() < len, "{len}"),
                Ok(_) => panic!("{len} zeros were read"),
                Err(_) => {}
            }
        }
    }

    #[test]
    fn forged_cookies_and_answers_change_nothing() {
        let now = Instant::now();
        let mut responder = responder(now);
        let mut dialer = dialer(&["10.9.0.2"]);
        let hello = dialer.hello(now, &[0]).1;
        let due = dialer.pending_due(None).unwrap();
        for len in [0, 1, 2, 18, 57, 58, 59, 200] {
            let forged = [&[3, 0][..], &vec![7; len]].concat();
            assert!(dialer.on_cookie(now, 0, &forged).is_err(), "{len}");
        }
        let Ok(Reply::Answer(answer, _)) = reply(&mut responder, now, &hello) else {
            panic!("a first hello was not answered");
        };
        for index in 0..answer.len() {
            let mut forged = answer.clone();
            forged[index] ^= 1;
            // Kind and link do not matter here.
            assert!(index < 2 || dialer.on_answer(now, 0, &forged).is_err());
        }
        let elsewhere = dialer.on_answer(now, 1, &answer).err();
        assert_eq!(elsewhere, Some(Refusal::UnknownSession), "on another link");
        assert_eq!(dialer.pending_due(None), Some(due), "another hello is due");
    }

    #[test]
    fn answer_is_accepted_after_forged_ones() {
        let now = Instant::now();
        let mut dialer = dialer(&["10.9.0.2"]);
        let hello = dialer.hello(now, &[0]).1;
        let Ok(Reply::Answer(answer, _)) = reply(&mut responder(now), now, &hello) else {
            panic!("a first hello was not answered");
        };
        let mut forged = answer.clone();
        *forged.last_mut().unwrap() ^= 1;
        for _ in 0..10 {
            assert!(dialer.on_answer(now, 0, &forged).is_err());
        }
        assert!(dialer.on_answer(now, 0, &answer).is_ok());
    }

    #[test]
    fn hello_accepts_one_cookie() {
        let now = Instant::now();
        let mut responder = responder_under_load(now);
        let mut dialer = dialer(&["10.9.0.2"]);
        let hello = dialer.hello(now, &[0]).1;
        let Ok(Reply::Cookie(cookie)) = reply(&mut responder, now, &hello) else {
            panic!("a hello without a cookie was read");
        };
        assert!(dialer.on_cookie(now, 0, &cookie).is_ok());
        assert!(dialer.on_cookie(now, 0, &cookie).is_err());
        assert_eq!(
            dialer.pending_due(None),
            Some(now + Duration::from_millis(100))
        );
        // An answer to an earlier hello.
        let _ = dialer.hello(now, &[0]);
        assert!(dialer.on_cookie(now, 0, &cookie).is_err());
    }

    const SECOND: u64 = 1_000_000_000;
    const HOUR: u64 = 3600 * SECOND;

    #[test]
    fn admits_only_newer_timestamps() {
        let newest = NewestTimestamp::new(HOUR, HOUR + SECOND);
        assert!(!newest.admits(HOUR) && !newest.admits(HOUR - SECOND));
        assert!(newest.admits(HOUR + 1));
    }

    #[test]
    fn corrected_clock_is_refused_for_at_most_a_minute() {
        let newest = NewestTimestamp::new(HOUR * 2, HOUR);
        assert!(!newest.admits(HOUR) && !newest.admits(HOUR + 60 * SECOND));
        assert!(newest.admits(HOUR + 61 * SECOND));
        // An exact repetition stays a replay.
        assert!(!newest.admits(HOUR * 2));
    }
}
