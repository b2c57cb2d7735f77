//! Initiator of the handshake: sends one hello at a time, on one link after the other.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use tracing::warn;

use super::cookie::{self, Cookie, HelloKeys};
use super::handshake::{
    ANSWER_HEAD, Acceptance, COOKIE_LEN, HELLO, HELLO_HEAD, HELLO_PROOF, HelloPayload, MARK_LEN,
    purpose, random, since_1970,
};
use super::peer::{Keys, Peer};
use super::refusal::Refusal;
use super::session_ids::SessionIds;
use crate::keys::{PublicKey, SecretKey};
use crate::noise::Initiator;

/// Interval of hellos while no round trip is known. Otherwise it is the answer timeout of the links: after an
/// earlier hello the relay would forget the one that it is answering. Since the timeout may be wrong, each
/// [`DOUBLED_AFTER`] hellos double the interval.
const INITIAL_INTERVAL: Duration = Duration::from_millis(500);
const DOUBLED_AFTER: u32 = 6;
const MAX_INTERVAL: Duration = Duration::from_secs(2);
/// Least interval of hellos to a relay that answers only hellos, or that refuses this client.
const ANSWERED_INTERVAL: Duration = Duration::from_secs(1);
/// A relay that has not answered for this long is reported.
const REPORT_AFTER: Duration = Duration::from_secs(10);
/// A larger difference of clocks is reported.
const CLOCK_ERROR: Duration = Duration::from_secs(60);
/// Longest time to wait for an answer before the relay may have lost its keys. Meanwhile the retransmission
/// timers of the connections inside grow.
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// Least interval of hellos after a cookie.
const COOKIE_INTERVAL: Duration = Duration::from_millis(100);
/// Lifetime of a cookie: as long as a relay uses the secret that it was made with.
const COOKIE_LIFE: Duration = Duration::from_secs(60);
/// Largest number of forged answers to a hello that are tried. Each takes two multiplications on the curve.
const MAX_FORGED: u32 = 64;

/// The initiator, which agrees on new keys with the relay as needed.
pub struct Dialer {
    secret: SecretKey,
    relay: PublicKey,
    hello_keys: HelloKeys,
    addresses: Vec<IpAddr>,
    instance: u64,
    ids: SessionIds,
    pending: Option<Pending>,
    last_hello: Option<Instant>,
    attempts: u32,
    refused_at: Option<Instant>,
    is_refused: bool,
    /// Start of the time without an answer, until it has been reported.
    unanswered: Option<Instant>,
    knows_clock: bool,
    /// The cookie of each link, since it is for one address, and its arrival time.
    cookies: HashMap<usize, (Cookie, Instant)>,
    sealed: bool,
}

struct Pending {
    noise: Initiator,
    ours: u32,
    link: Option<usize>,
    mark: [u8; MARK_LEN],
    at: Instant,
    has_cookie: bool,
    forged: u32,
}

impl Dialer {
    /// Creates an initiator for the relay with that key. `addresses` are this client's addresses in the tunnel.
    #[must_use]
    pub fn new(
        secret: SecretKey,
        relay: PublicKey,
        addresses: Vec<IpAddr>,
        ids: SessionIds,
    ) -> Dialer {
        Dialer {
            secret,
            relay,
            hello_keys: HelloKeys::of(&relay),
            addresses,
            instance: random(),
            ids,
            pending: None,
            last_hello: None,
            attempts: 0,
            refused_at: None,
            is_refused: false,
            unanswered: None,
            knows_clock: false,
            cookies: HashMap::new(),
            sealed: true,
        }
    }

    #[must_use]
    pub fn sealed(mut self, sealed: bool) -> Dialer {
        self.sealed = sealed;
        self
    }

    /// Replaces the relay by another one. The next hello is due at once.
    pub fn set_relay(&mut self, relay: PublicKey) {
        self.relay = relay;
        self.hello_keys = HelloKeys::of(&relay);
        self.cookies.clear();
        (self.pending, self.last_hello, self.refused_at) = (None, None, None);
        (self.attempts, self.is_refused) = (0, false);
    }

    /// Returns when the next hello is due, unless the relay is heard before.
    #[must_use]
    pub fn due_at(&self, now: Instant, peer: &Peer) -> Option<Instant> {
        let timeout = peer.answer_timeout();
        if let Some(due) = self.pending_due(timeout) {
            return Some(due);
        }
        if let Some(at) = self.refused_at {
            return Some(at + ANSWERED_INTERVAL);
        }
        if peer.needs_keys(now) {
            return Some(now);
        }
        let silent = peer.unanswered? + timeout.map_or(SILENCE, |timeout| timeout.min(SILENCE));
        let next = self
            .last_hello
            .map_or(silent, |last_hello| last_hello + ANSWERED_INTERVAL);
        Some(silent.max(next))
    }

    /// Returns when the next hello is due if the outstanding one is not answered. `timeout`: the links'
    /// answer timeout, if known.
    pub(super) fn pending_due(&self, timeout: Option<Duration>) -> Option<Instant> {
        let pending = self.pending.as_ref()?;
        let interval = match pending.has_cookie {
            true => COOKIE_INTERVAL,
            false => {
                let doublings = self.attempts.saturating_sub(1) / DOUBLED_AFTER;
                let factor = 1 << doublings.min(8);
                (timeout.unwrap_or(INITIAL_INTERVAL) * factor).min(MAX_INTERVAL)
            }
        };
        Some(pending.at + interval)
    }

    /// Makes the next hello due at once, since a link is up again.
    pub fn retry_now(&mut self, now: Instant) {
        if let Some(pending) = &mut self.pending {
            pending.at = now - MAX_INTERVAL;
        }
    }

    /// Returns whether the relay has refused this client, and no hello was sent since.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Returns a hello, and the link to send it on, if one of `available` can be used.
    #[must_use]
    pub fn hello(&mut self, now: Instant, available: &[usize]) -> (Option<usize>, Vec<u8>) {
        if self.attempts == 0 {
            self.unanswered = Some(now);
        }
        if let Some(since) = self
            .unanswered
            .take_if(|since| now >= *since + REPORT_AFTER)
        {
            let seconds = now.duration_since(since).as_secs();
            warn!(
                "no answer from the relay for {seconds} s: it is unreachable, does not know this key, \
                 or has seen a later time of this clock (after a clock that was ahead, it refuses the \
                 right time for up to a minute)"
            );
        }
        let parameters = HelloPayload {
            session: self.ids.draw(|_| false),
            instance: self.instance,
            time: since_1970(),
            addresses: self.addresses.clone(),
        };
        let payload = parameters.to_bytes();
        let (noise, message) =
            Initiator::new(purpose(self.sealed), &self.secret, &self.relay, &payload);
        self.refused_at = None;
        self.last_hello = Some(now);
        // A cookie is valid only on its link.
        let cookie_link = self.pending.take().filter(|pending| pending.has_cookie);
        let cookie_link = cookie_link.and_then(|pending| pending.link);
        let link = match cookie_link.filter(|link| available.contains(link)) {
            Some(link) => Some(link),
            None => {
                let number = self.attempts as usize % available.len().max(1);
                self.attempts = self.attempts.wrapping_add(1);
                available.get(number).copied()
            }
        };
        let mark = self.hello_keys.mark(&message);
        let mut hello = Vec::with_capacity(HELLO_HEAD + message.len());
        hello.extend_from_slice(&[HELLO, link.unwrap_or_default() as u8]);
        hello.extend_from_slice(&[0; COOKIE_LEN]);
        hello.extend_from_slice(&mark);
        hello.extend_from_slice(&message);
        let cookie = link.and_then(|link| self.cookies.get(&link));
        if let Some((cookie, since)) = cookie
            && now < *since + COOKIE_LIFE
        {
            let proof = cookie::proof(cookie, &hello);
            hello[HELLO_PROOF].copy_from_slice(&proof);
        }
        self.pending = Some(Pending {
            noise,
            ours: parameters.session,
            link,
            mark,
            at: now,
            has_cookie: false,
            forged: 0,
        });
        (link, hello)
    }

    /// Handles an answer to the outstanding hello, from the relay's address on a link; returns the new keys.
    /// After an invalid answer the hello stays outstanding. After a refusal the next hello is sent later.
    pub fn on_answer(
        &mut self,
        now: Instant,
        link: usize,
        datagram: &[u8],
    ) -> Result<Keys, Refusal> {
        let (head, message) = datagram
            .split_at_checked(ANSWER_HEAD)
            .ok_or(Refusal::Malformed)?;
        let pending = self.pending.as_mut().filter(|pending| {
            head[2..] == pending.ours.to_be_bytes() && pending.link == Some(link)
        });
        let pending = pending.ok_or(Refusal::UnknownSession)?;
        if pending.forged == MAX_FORGED {
            return Err(Refusal::WrongKey);
        }
        let ours = pending.ours;
        let finished = pending.noise.finish(message);
        let (session, payload) = finished.map_err(|_| {
            pending.forged += 1;
            Refusal::WrongKey
        })?;
        let accepted = Acceptance::parse(&payload).ok_or(Refusal::Malformed)?;
        self.pending = None;
        let (theirs, instance, time) = match accepted {
            Acceptance::Accepted {
                session,
                instance,
                time,
            } => (session, instance, time),
            Acceptance::ForeignAddress => {
                self.unanswered = None;
                self.refused_at = Some(now);
                self.is_refused = true;
                return Err(Refusal::RefusedByRelay);
            }
        };
        self.attempts = 0;
        self.unanswered = None;
        self.is_refused = false;
        if !std::mem::replace(&mut self.knows_clock, true) {
            report_clock_difference(since_1970(), time);
        }
        Ok(Keys {
            session: self.sealed.then_some(session),
            ours,
            theirs,
            instance,
            since: now,
        })
    }

    /// Handles a cookie from the relay's address on a link: the relay is under load and wants proof of our
    /// address. Fails unless it is the first one for the outstanding hello.
    pub fn on_cookie(&mut self, now: Instant, link: usize, datagram: &[u8]) -> Result<(), Refusal> {
        let is_wanted = |pending: &&mut Pending| pending.link == Some(link) && !pending.has_cookie;
        let pending = self.pending.as_mut().filter(is_wanted);
        let pending = pending.ok_or(Refusal::UnknownSession)?;
        let cookie = self.hello_keys.open_cookie(&pending.mark, datagram);
        let cookie = cookie.ok_or(Refusal::Forged)?;
        pending.has_cookie = true;
        self.cookies.insert(link, (cookie, now));
        Ok(())
    }
}

/// Reports the difference of this machine's clock to the relay's, if it is large. Both are in nanoseconds.
fn report_clock_difference(own: u64, relay: u64) {
    let difference = Duration::from_nanos(own.abs_diff(relay));
    if difference > CLOCK_ERROR {
        let side = if own > relay { "ahead of" } else { "behind" };
        let seconds = difference.as_secs();
        warn!(
            "this machine's clock is {seconds} s {side} the relay's; when it is set back, the \
             relay may refuse this key for up to a minute"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ropewalk_quantities::Time;
    use ropewalk_striping::tunnel::{Feedback, ReceiverConfig, SenderConfig};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn dialer() -> Dialer {
        let [van, relay] = [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]));
        Dialer::new(van, relay.public(), Vec::new(), SessionIds::new(0x1234, 0))
    }

    /// A relay with keys that has not answered since `now`, over a link with that round trip.
    fn silent_relay(now: Instant, round_trip: Option<Time>) -> Peer {
        let configs = (SenderConfig::default(), ReceiverConfig::default());
        let mut relay = Peer::new("relay".to_owned(), None, configs);
        relay.use_keys(Keys {
            session: None,
            ours: 1,
            theirs: 2,
            instance: 3,
            since: now,
        });
        let link = relay.sender.add_link(Time::ZERO);
        relay.sender.set_up(link, true);
        if let Some(round_trip) = round_trip {
            relay.sender.send(Time::ZERO, link, 100);
            let feedback = Feedback {
                received: 1,
                bytes: 100,
                ..Feedback::default()
            };
            relay.sender.on_feedback(round_trip, &feedback);
        }
        relay.unanswered = Some(now);
        relay
    }

    #[test]
    fn due_at_follows_the_answer_timeout() {
        let now = Instant::now();
        for (round_trip, expected) in [
            // Two round trips plus four times a variation of half of one.
            (Some(1), MS(250)),
            (Some(50), MS(300)),
            (Some(200), MS(1200)),
            (Some(600), SILENCE),
            (None, SILENCE),
        ] {
            let relay = silent_relay(now, round_trip.map(Time::from_millis));
            let due = dialer().due_at(now, &relay);
            assert_eq!(due, Some(now + expected), "{round_trip:?} ms");
        }
    }

    #[test]
    fn due_at_is_at_most_once_a_second_while_hellos_are_answered() {
        let now = Instant::now();
        let mut dialer = dialer();
        let _ = dialer.hello(now, &[0]);
        dialer.pending = None;
        let relay = silent_relay(now, Some(Time::from_millis(1)));
        assert_eq!(dialer.due_at(now, &relay), Some(now + MS(1000)));
    }

    #[test]
    fn pending_due_is_not_before_the_answer_timeout() {
        let now = Instant::now();
        for (timeout, intervals) in [
            (None, [500, 1000, 2000, 2000]),
            (Some(250), [250, 500, 1000, 2000]),
            (Some(1800), [1800, 2000, 2000, 2000]),
            (Some(9000), [2000, 2000, 2000, 2000]),
        ] {
            let (mut dialer, timeout) = (dialer(), timeout.map(MS));
            for interval in intervals {
                for _ in 0..DOUBLED_AFTER {
                    let _ = dialer.hello(now, &[0]);
                    let due = dialer.pending_due(timeout);
                    assert_eq!(due, Some(now + MS(interval)), "{timeout:?}");
                }
            }
            dialer.retry_now(now);
            assert!(dialer.pending_due(timeout) <= Some(now));
        }
    }
}
