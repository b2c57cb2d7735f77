//! The responder's side of the handshake: who may come in.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Instant;

use super::handshake::{
    ANSWER, Acceptance, COOKIE, COOKIE_LEN, Gate, HELLO_HEAD, Offer, Verdict, purpose, random,
};
use super::peer::Keys;
use super::refusal::Refusal;
use crate::keys::{Clients, PublicKey, SecretKey};
use crate::noise::Responder;

/// Knows who may come in.
pub struct Door {
    secret: SecretKey,
    clients: Clients,
    gate: Gate,
    instance: u64,
    /// Time of each client's newest offer: older ones are replays.
    newest: HashMap<PublicKey, u64>,
    sealed: bool,
}

/// What is said to who knocks.
pub enum Reply {
    /// Come again with this.
    Cookie(Vec<u8>),
    /// Come in.
    Answer(Vec<u8>, Box<Guest>),
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
            sealed: true,
        }
    }

    /// A door for a tunnel whose datagrams are sealed, or not.
    #[must_use]
    pub fn sealed(mut self, sealed: bool) -> Door {
        self.sealed = sealed;
        self
    }

    /// A hello: what to send back, and who came, if he may.
    ///
    /// # Errors
    /// Why nothing is sent back.
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
        if let Verdict::Cookie(cookie) = self.gate.ask(now, from, &head[2..2 + COOKIE_LEN]) {
            let mut reply = vec![COOKIE, link];
            reply.extend_from_slice(&cookie);
            return Ok(Reply::Cookie(reply));
        }
        let read = Responder::read(purpose(self.sealed), &self.secret, message);
        let (responder, payload) = read.map_err(|_| Refusal::WrongKey)?;
        let key = *responder.peer();
        let client = self.clients.get(&key).ok_or(Refusal::UnknownClient)?;
        let offer = Offer::parse(&payload).ok_or(Refusal::Malformed)?;
        let newest = self.newest.get(&key);
        if newest.is_some_and(|&newest| offer.time <= newest) {
            return Err(Refusal::ReplayedHandshake);
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
        let guest = Guest {
            key,
            name: client.name.clone(),
            offer,
            keys: Keys {
                session: self.sealed.then_some(session),
                ours: acceptance.session,
                theirs: offer.session,
                instance: offer.instance,
                since: now,
            },
        };
        Ok(Reply::Answer(reply, Box::new(guest)))
    }
}
