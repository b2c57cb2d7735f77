//! The initiator's side of the handshake: one hello at a time, on one link after the other.

use std::net::IpAddr;
use std::time::{Duration, Instant, SystemTime};

use super::handshake::{
    ANSWER_HEAD, Acceptance, COOKIE_LEN, HELLO, HELLO_HEAD, Offer, mark, purpose, random,
};
use super::peer::{Keys, Peer};
use super::refusal::Refusal;
use crate::keys::{PublicKey, SecretKey};
use crate::noise::Initiator;

/// After the first hello the next one goes so much later, then twice as much, up to the most.
const FIRST_PATIENCE: Duration = Duration::from_millis(500);
const MOST_PATIENCE: Duration = Duration::from_secs(4);
/// A relay that says nothing for so long may have lost its keys.
const SILENCE: Duration = Duration::from_secs(5);

/// Makes keys with the relay, again and again.
pub struct Dialer {
    secret: SecretKey,
    relay: PublicKey,
    addresses: Vec<IpAddr>,
    instance: u64,
    links: usize,
    pending: Option<Pending>,
    /// Hellos since the last answer.
    attempts: u32,
    /// When the relay said last that it will not have us.
    turned_away: Option<Instant>,
    cookie: [u8; COOKIE_LEN],
    sealed: bool,
}

struct Pending {
    noise: Initiator,
    ours: u32,
    at: Instant,
}

impl Dialer {
    /// Will call the relay of that key, over so many links, from these addresses within the tunnel.
    #[must_use]
    pub fn new(
        secret: SecretKey,
        relay: PublicKey,
        addresses: Vec<IpAddr>,
        links: usize,
    ) -> Dialer {
        Dialer {
            secret,
            relay,
            addresses,
            instance: random(),
            links,
            pending: None,
            attempts: 0,
            turned_away: None,
            cookie: [0; COOKIE_LEN],
            sealed: true,
        }
    }

    /// A dialer for a tunnel whose datagrams are sealed, or not.
    #[must_use]
    pub fn sealed(mut self, sealed: bool) -> Dialer {
        self.sealed = sealed;
        self
    }

    /// When the next hello is due, if the relay does not speak before.
    #[must_use]
    pub fn due_at(&self, now: Instant, peer: &Peer) -> Instant {
        if let Some(pending) = &self.pending {
            let patience = FIRST_PATIENCE * 2_u32.pow(self.attempts.clamp(1, 5) - 1);
            return pending.at + patience.min(MOST_PATIENCE);
        }
        if let Some(at) = self.turned_away {
            return at + MOST_PATIENCE;
        }
        if peer.wants_keys(now) {
            now
        } else {
            peer.heard + SILENCE
        }
    }

    /// A hello, and the link that it goes on.
    #[must_use]
    pub fn hello(&mut self, now: Instant) -> (usize, Vec<u8>) {
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let offer = Offer {
            session: random() as u32,
            instance: self.instance,
            time: since_1970.map_or(0, |time| time.as_nanos() as u64),
            addresses: self.addresses.clone(),
        };
        let payload = offer.to_bytes();
        let (noise, message) =
            Initiator::new(purpose(self.sealed), &self.secret, &self.relay, &payload);
        self.turned_away = None;
        let link = self.attempts as usize % self.links;
        self.attempts = self.attempts.wrapping_add(1);
        self.pending = Some(Pending {
            noise,
            ours: offer.session,
            at: now,
        });
        let mut hello = Vec::with_capacity(HELLO_HEAD + message.len());
        hello.extend_from_slice(&[HELLO, link as u8]);
        hello.extend_from_slice(&self.cookie);
        hello.extend_from_slice(&mark(&self.relay, &message));
        hello.extend_from_slice(&message);
        (link, hello)
    }

    /// The answer to the hello that is out: keys.
    ///
    /// # Errors
    /// It is none; the hello is still out unless somebody forged its answer, and then another
    /// follows. Or the relay will not have this client, and is asked again later.
    pub fn on_answer(&mut self, now: Instant, datagram: &[u8]) -> Result<Keys, Refusal> {
        let (head, message) = datagram
            .split_at_checked(ANSWER_HEAD)
            .ok_or(Refusal::Malformed)?;
        let is_ours = |pending: &mut Pending| head[2..] == pending.ours.to_be_bytes();
        let pending = self.pending.take_if(is_ours);
        let pending = pending.ok_or(Refusal::UnknownSession)?;
        let ours = pending.ours;
        let finished = pending.noise.finish(message);
        let (session, payload) = finished.map_err(|_| Refusal::WrongKey)?;
        let (theirs, instance) = match Acceptance::parse(&payload).ok_or(Refusal::Malformed)? {
            Acceptance::Accepted { session, instance } => (session, instance),
            Acceptance::ForeignAddress => {
                self.turned_away = Some(now);
                return Err(Refusal::TurnedAway);
            }
        };
        self.attempts = 0;
        Ok(Keys {
            session: self.sealed.then_some(session),
            ours,
            theirs,
            instance,
            since: now,
        })
    }

    /// The relay is busy: it wants to see that we are where we say.
    ///
    /// # Errors
    /// It is no cookie.
    pub fn on_cookie(&mut self, datagram: &[u8]) -> Result<(), Refusal> {
        let cookie = datagram.get(2..).and_then(|cookie| cookie.try_into().ok());
        let cookie = cookie.ok_or(Refusal::Malformed)?;
        if let Some(pending) = &mut self.pending
            && self.cookie != cookie
        {
            self.cookie = cookie;
            // The next hello follows at once.
            pending.at -= MOST_PATIENCE;
        }
        Ok(())
    }
}
