//! The responder's side of the handshake: who may come in.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tracing::warn;

use super::handshake::{
    ANSWER, Acceptance, COOKIE, COOKIE_LEN, Gate, HELLO_HEAD, Offer, Verdict, random,
};
use super::peer::Keys;

use crate::keys::{Clients, PublicKey, SecretKey};
use crate::noise::{Purpose, Responder};

/// The same refusal is logged once in so long.
const LOG_AGAIN: Duration = Duration::from_secs(60);

/// Knows who may come in.
pub struct Door {
    secret: SecretKey,
    clients: Clients,
    gate: Gate,
    instance: u64,
    /// Time of each client's newest offer: older ones are replays.
    newest: HashMap<PublicKey, u64>,
    /// When each refusal was last logged.
    logged: HashMap<&'static str, Instant>,
}

/// A client that may come in.
pub struct Guest {
    /// Who it is.
    pub key: PublicKey,
    /// As the list of clients calls it.
    pub name: String,
    /// What it says of itself.
    pub offer: Offer,
    /// To be used once the client uses them.
    pub keys: Keys,
}

impl Door {
    /// A door for these clients.
    #[must_use]
    pub fn new(now: Instant, secret: SecretKey, clients: Clients) -> Door {
        Door {
            secret,
            clients,
            gate: Gate::new(now),
            instance: random(),
            newest: HashMap::new(),
            logged: HashMap::new(),
        }
    }

    /// A hello: what to send back, and who came, if he may.
    pub fn on_hello(
        &mut self,
        now: Instant,
        from: SocketAddr,
        datagram: &[u8],
    ) -> Option<(Vec<u8>, Option<Guest>)> {
        let (head, message) = datagram.split_at_checked(HELLO_HEAD)?;
        let link = head[1];
        if let Verdict::Cookie(cookie) = self.gate.ask(now, from, &head[2..2 + COOKIE_LEN]) {
            let mut reply = vec![COOKIE, link];
            reply.extend_from_slice(&cookie);
            return Some((reply, None));
        }
        let Ok((responder, payload)) = Responder::read(Purpose::Tunnel, &self.secret, message)
        else {
            self.refuse(now, from, "a handshake that is not for this relay's key");
            return None;
        };
        let key = *responder.peer();
        let Some(client) = self.clients.get(&key) else {
            self.refuse(now, from, "a client that is not in the list");
            return None;
        };
        let name = client.name.clone();
        let offer = Offer::parse(&payload)?;
        if self
            .newest
            .get(&key)
            .is_some_and(|&newest| offer.time <= newest)
        {
            self.refuse(now, from, "a handshake that was there before");
            return None;
        }
        self.newest.insert(key, offer.time);
        let acceptance = Acceptance {
            session: random() as u32,
            instance: self.instance,
        };
        let (message, session) = responder.answer(&acceptance.to_bytes());
        let mut reply = vec![ANSWER, link];
        reply.extend_from_slice(&offer.session.to_be_bytes());
        reply.extend_from_slice(&message);
        let keys = Keys {
            session,
            ours: acceptance.session,
            theirs: offer.session,
            instance: offer.instance,
            since: now,
        };
        let guest = Guest {
            key,
            name,
            offer,
            keys,
        };
        Some((reply, Some(guest)))
    }

    fn refuse(&mut self, now: Instant, from: SocketAddr, why: &'static str) {
        let logged = self.logged.get(why);
        if logged.is_none_or(|&at| now >= at + LOG_AGAIN) {
            self.logged.insert(why, now);
            warn!("{from}: {why}");
        }
    }
}
