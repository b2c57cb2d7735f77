//! Sessions of peers: handshakes, and their end.

use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::Ping;
use tracing::info;

use super::{Engine, HandshakeRole, sending};
use crate::source::source;
use crate::tunnel::link_path::Path;
use crate::tunnel::peer::Peer;
use crate::tunnel::refusal::Refusal;
use crate::tunnel::responder::{AcceptedClient, Reply};

impl Engine {
    /// Removes a client; packets to its addresses are dropped until it connects again.
    pub(super) fn disconnect(&mut self, number: usize) {
        self.peers[number].close_session();
        self.addresses.retain(|_, &mut other| other != number);
        self.prune_sessions(number);
    }

    pub(super) fn on_hello(
        &mut self,
        now: Instant,
        path: Path,
        datagram: &[u8],
    ) -> Result<(), Refusal> {
        let HandshakeRole::Responder(responder) = &mut self.end else {
            return Err(Refusal::Malformed);
        };
        let (peers, sessions) = (&self.peers, &self.sessions);
        let is_known = |address: IpAddr| {
            let is_it = |remote: &SocketAddr| source(remote.ip()) == address;
            peers.iter().any(|peer| peer.has_remote(is_it))
        };
        let is_taken = |id| sessions.contains_key(&id);
        let reply = responder.on_hello(now, path.remote, datagram, is_known, is_taken)?;
        let (bytes, done): (&[u8], _) = match &reply {
            Reply::Cookie(reply) => (reply, Err(Refusal::CookieWanted)),
            Reply::Reject(reply) => (reply, Err(Refusal::ForeignAddress)),
            Reply::Answer(reply, _) => (reply, Ok(())),
        };
        self.sockets.send(&path, bytes, bytes.len());
        if let Reply::Answer(_, accepted) = reply {
            self.accept(*accepted);
        }
        done
    }

    /// Gives a client its new keys, which take effect when the client uses them.
    pub(super) fn accept(&mut self, accepted: AcceptedClient) {
        let known = self.keys.get(&accepted.key).copied();
        let number = known.unwrap_or_else(|| {
            let peer = Peer::new(accepted.name, Some(Vec::new()), self.configs);
            self.peers.push(peer);
            self.keys.insert(accepted.key, self.peers.len() - 1);
            self.peers.len() - 1
        });
        let AcceptedClient {
            keys,
            hello,
            from,
            rate,
            ..
        } = accepted;
        self.peers[number].limit.set(rate);
        self.peers[number].offer_keys(keys, hello.addresses, from);
        self.prune_sessions(number);
        for session in self.peers[number].sessions() {
            self.sessions.insert(session, number);
        }
    }

    pub(super) fn on_answer(
        &mut self,
        now: (Instant, Time),
        link: usize,
        datagram: &[u8],
    ) -> Result<(), Refusal> {
        let HandshakeRole::Initiator(dialer) = &mut self.end else {
            return Err(Refusal::Malformed);
        };
        let keys = dialer.on_answer(now.0, link, datagram)?;
        let peer = &mut self.peers[0];
        if !peer.is_open(now.0) {
            info!("the relay answers");
        }
        self.device.set_carrier(true);
        self.sessions.insert(keys.ours, 0);
        peer.use_keys(keys);
        peer.unanswered = None;
        for link in 0..self.policies.len() {
            peer.set_terms(now.1, link, self.policies.terms(link));
        }
        // A restarted relay has no terms.
        self.announcer.announce_all(now.1);
        for link in 0..self.sockets.len() {
            let Some(relay) = self.sockets.relay(link) else {
                continue;
            };
            peer.add_path(now.1, link as u8, Path::new(link, relay, None));
            match self.sockets.get(link) {
                Some(_) if !peer.sender.is_in_use(link) => {}
                Some(_) => peer.ping(now.1, Ping::keepalive(link), sending(&self.sockets)),
                None => peer.sender.set_up(link, false),
            }
        }
        self.prune_sessions(0);
        Ok(())
    }

    pub(super) fn prune_sessions(&mut self, number: usize) {
        let live: Vec<u32> = self.peers[number].sessions().collect();
        self.sessions
            .retain(|session, &mut peer| peer != number || live.contains(session));
    }
}
