//! Configuration changes while the tunnel runs: clients and links.

use std::time::Instant;

use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};
use tracing::{info, warn};

use super::{Engine, HandshakeRole, sending};
use crate::Link;
use crate::keys::Clients;
use crate::tunnel::control::Reload;
use crate::tunnel::peer::Peer;

impl Engine {
    pub(super) fn reload(&mut self, reload: Reload) {
        match (reload, &self.end) {
            (Reload::Clients(clients), HandshakeRole::Responder(_)) => self.apply_clients(clients),
            (Reload::Links(links), HandshakeRole::Initiator(_)) => self.apply_links(&links),
            _ => {}
        }
        self.status_changed = true;
    }

    /// Disconnects clients whose name, or whose addresses in use, are no longer in the list.
    fn apply_clients(&mut self, clients: Clients) {
        let (_, now) = self.now();
        let mut cut = Vec::new();
        for (key, &number) in &self.keys {
            let peer = &mut self.peers[number];
            let limits = clients.get(key).map(|client| client.limits);
            peer.limit.set(limits.and_then(|limits| limits.rate));
            let own = peer.addresses.iter().flatten();
            let is_known = clients.get(key).is_some_and(|client| {
                let mut own = own;
                own.all(|address| client.addresses.contains(address))
            });
            if is_known || peer.sessions().next().is_none() {
                continue;
            }
            info!(
                "{}: disconnected: not in the list of clients any more",
                peer.name
            );
            // The message is not repeated, so it is sent on all links: some may be down.
            for link in 0..peer.sender.links() {
                if !peer.sender.is_in_use(link) {
                    continue;
                }
                peer.answer(now, link, &TunnelFrame::Close, sending(&self.sockets));
            }
            peer.flush(now, sending(&self.sockets));
            cut.push(number);
        }
        for number in cut {
            self.disconnect(number);
        }
        if let HandshakeRole::Responder(responder) = &mut self.end {
            responder.set_clients(clients);
        }
    }

    /// Ends a client's session, and calls the relay with that number, if there is one.
    pub(super) fn use_relay(&mut self, number: usize) {
        let HandshakeRole::Initiator(dialer) = &mut self.end else {
            return;
        };
        let Some(relay) = self.relays.get(number).filter(|_| number != self.relay) else {
            return;
        };
        let now = Instant::now();
        dialer.set_relay(relay.key);
        self.sockets.replace_relays(&relay.addresses);
        if let Some(names) = &mut self.names {
            names.set_name(now, relay.name.clone());
        }
        self.relay = number;
        self.peers[0] = Peer::new("relay".to_owned(), None, self.configs);
        self.prune_sessions(0);
        self.watch.check_now();
        self.status_changed = true;
    }

    /// Applies a list of links. Links whose name remains keep their number and their state.
    fn apply_links(&mut self, links: &[Link]) {
        // Bytes carried so far count under the previous contracts.
        self.count_carried();
        for number in 0..self.policies.len() {
            let Some(name) = self.policies.name(number) else {
                continue;
            };
            match links.iter().find(|link| link.name == name) {
                Some(link) => {
                    self.sockets.set_link(number, link);
                    self.policies.set(number, link);
                }
                None => {
                    info!("link {name}: removed");
                    self.policies.remove(number);
                    self.sockets.remove_link(number);
                    if number < self.peers[0].sender.links() {
                        self.peers[0].sender.set_up(number, false);
                    }
                }
            }
        }
        for link in links {
            if self.policies.has(&link.name) {
                continue;
            }
            if self.policies.len() > usize::from(TunnelHeader::MAX_LINK) {
                warn!(
                    "link {}: no link number is left; restart the tunnel to add it",
                    link.name
                );
                continue;
            }
            self.policies.add(link);
            self.sockets.add_link(link);
        }
        self.watch.check_now();
        if let Some(names) = &mut self.names {
            names.retry_all_links();
        }
    }
}
