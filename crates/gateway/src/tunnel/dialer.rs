//! The initiator of the handshake: sends one hello at a time, on one link after the other.

use std::net::IpAddr;
use std::time::{Duration, Instant};

use tracing::warn;

use super::handshake::{
    ANSWER_HEAD, Acceptance, COOKIE_LEN, HELLO, HELLO_HEAD, HelloPayload, mark, purpose, random,
    since_1970,
};
use super::peer::{Keys, Peer};
use super::refusal::Refusal;
use crate::keys::{PublicKey, SecretKey};
use crate::noise::Initiator;

/// Interval of hellos: at first, and after [`SOON`] unanswered ones.
const INITIAL_INTERVAL: Duration = Duration::from_millis(500);
const MAX_INTERVAL: Duration = Duration::from_secs(1);
const SOON: u32 = 20;
/// A relay that has not answered for this long is reported.
const COMPLAINT: Duration = Duration::from_secs(10);
/// A larger difference of clocks is reported.
const CLOCK_ERROR: Duration = Duration::from_secs(60);
/// A relay that answers nothing for this long may have lost its keys.
const SILENCE: Duration = Duration::from_secs(5);

/// The initiator, which agrees on new keys with the relay as needed.
pub struct Dialer {
    secret: SecretKey,
    relay: PublicKey,
    addresses: Vec<IpAddr>,
    instance: u64,
    pending: Option<Pending>,
    /// Hellos since the last answer.
    attempts: u32,
    /// When the relay last refused this client.
    turned_away: Option<Instant>,
    /// Since when no hello was answered, until that has been reported.
    unanswered: Option<Instant>,
    knows_clock: bool,
    cookie: [u8; COOKIE_LEN],
    sealed: bool,
}

struct Pending {
    noise: Initiator,
    ours: u32,
    at: Instant,
}

impl Dialer {
    /// For the relay of that key, from these addresses in the tunnel.
    #[must_use]
    pub fn new(secret: SecretKey, relay: PublicKey, addresses: Vec<IpAddr>) -> Dialer {
        Dialer {
            secret,
            relay,
            addresses,
            instance: random(),
            pending: None,
            attempts: 0,
            turned_away: None,
            unanswered: None,
            knows_clock: false,
            cookie: [0; COOKIE_LEN],
            sealed: true,
        }
    }

    /// Sets whether the tunnel's datagrams are encrypted.
    #[must_use]
    pub fn sealed(mut self, sealed: bool) -> Dialer {
        self.sealed = sealed;
        self
    }

    /// When the next hello is due, if one is, unless the relay is heard before.
    #[must_use]
    pub fn due_at(&self, now: Instant, peer: &Peer) -> Option<Instant> {
        if let Some(pending) = &self.pending {
            let interval = match self.attempts < SOON {
                true => INITIAL_INTERVAL,
                false => MAX_INTERVAL,
            };
            return Some(pending.at + interval);
        }
        if let Some(at) = self.turned_away {
            return Some(at + MAX_INTERVAL);
        }
        if peer.wants_keys(now) {
            return Some(now);
        }
        peer.unanswered.map(|since| since + SILENCE)
    }

    /// A link is up again: the next hello is due at once.
    pub fn hurry(&mut self, now: Instant) {
        if let Some(pending) = &mut self.pending {
            pending.at = now - MAX_INTERVAL;
        }
    }

    /// A hello, and the link to send it on, if one of `there` can be used.
    #[must_use]
    pub fn hello(&mut self, now: Instant, there: &[usize]) -> (Option<usize>, Vec<u8>) {
        if self.attempts == 0 {
            self.unanswered = Some(now);
        }
        if let Some(since) = self.unanswered.take_if(|since| now >= *since + COMPLAINT) {
            let seconds = now.duration_since(since).as_secs();
            warn!(
                "no answer from the relay for {seconds} s: it is not reached, does not know this \
                 key, or heard a later time from it than this clock has (an hour ahead of its own \
                 once, it refuses the right time for up to a minute)"
            );
        }
        let parameters = HelloPayload {
            session: random() as u32,
            instance: self.instance,
            time: since_1970(),
            addresses: self.addresses.clone(),
        };
        let payload = parameters.to_bytes();
        let (noise, message) =
            Initiator::new(purpose(self.sealed), &self.secret, &self.relay, &payload);
        self.turned_away = None;
        let link = there
            .get(self.attempts as usize % there.len().max(1))
            .copied();
        self.attempts = self.attempts.wrapping_add(1);
        self.pending = Some(Pending {
            noise,
            ours: parameters.session,
            at: now,
        });
        let mut hello = Vec::with_capacity(HELLO_HEAD + message.len());
        hello.extend_from_slice(&[HELLO, link.unwrap_or_default() as u8]);
        hello.extend_from_slice(&self.cookie);
        hello.extend_from_slice(&mark(&self.relay, &message));
        hello.extend_from_slice(&message);
        (link, hello)
    }

    /// An answer to the outstanding hello: the new keys.
    ///
    /// # Errors
    /// It is not a valid answer. The hello stays outstanding unless its answer was forged, in which case
    /// another follows. Or the relay refuses this client, and is asked again later.
    pub fn on_answer(&mut self, now: Instant, datagram: &[u8]) -> Result<Keys, Refusal> {
        let (head, message) = datagram
            .split_at_checked(ANSWER_HEAD)
            .ok_or(Refusal::Malformed)?;
        let is_ours = |pending: &mut Pending| head[2..] == pending.ours.to_be_bytes();
        let pending = self.pending.take_if(is_ours);
        let mut pending = pending.ok_or(Refusal::UnknownSession)?;
        let ours = pending.ours;
        let finished = pending.noise.finish(message);
        let (session, payload) = finished.map_err(|_| Refusal::WrongKey)?;
        let accepted = Acceptance::parse(&payload).ok_or(Refusal::Malformed)?;
        let (theirs, instance, time) = match accepted {
            Acceptance::Accepted {
                session,
                instance,
                time,
            } => (session, instance, time),
            Acceptance::ForeignAddress => {
                self.unanswered = None;
                self.turned_away = Some(now);
                return Err(Refusal::TurnedAway);
            }
        };
        self.attempts = 0;
        self.unanswered = None;
        if !std::mem::replace(&mut self.knows_clock, true) {
            complain_of_clock(since_1970(), time);
        }
        Ok(Keys {
            session: self.sealed.then_some(session),
            ours,
            theirs,
            instance,
            since: now,
        })
    }

    /// A cookie: the relay is under load and wants proof of our address.
    ///
    /// # Errors
    /// It is malformed.
    pub fn on_cookie(&mut self, datagram: &[u8]) -> Result<(), Refusal> {
        let cookie = datagram.get(2..).and_then(|cookie| cookie.try_into().ok());
        let cookie = cookie.ok_or(Refusal::Malformed)?;
        if let Some(pending) = &mut self.pending
            && self.cookie != cookie
        {
            self.cookie = cookie;
            // The next hello is due at once.
            pending.at -= MAX_INTERVAL;
        }
        Ok(())
    }
}

/// Reports the difference of this machine's clock to the relay's, if it is large; both in nanoseconds.
fn complain_of_clock(own: u64, relay: u64) {
    let off = Duration::from_nanos(own.abs_diff(relay));
    if off > CLOCK_ERROR {
        let side = if own > relay { "ahead of" } else { "behind" };
        let seconds = off.as_secs();
        warn!(
            "this machine's clock is {seconds} s {side} the relay's; when it is set back, the \
             relay may refuse this key for up to a minute"
        );
    }
}
