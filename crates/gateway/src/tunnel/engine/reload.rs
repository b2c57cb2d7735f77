//! Configuration changes while the tunnel runs: clients and links.

use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};
use tracing::{info, warn};

use super::{End, Engine, sending};
use crate::Link;
use crate::keys::Clients;
use crate::tunnel::control::Reload;

impl Engine {
    pub(super) fn reload(&mut self, reload: Reload) {
        match (reload, &self.end) {
            (Reload::Clients(clients), End::Responder(_)) => self.follow_clients(clients),
            (Reload::Links(links), End::Initiator(_)) => self.follow_links(&links),
            _ => {}
        }
        self.unpublished = true;
    }

    /// Disconnects clients whose name, or whose addresses in use, are no longer in the list.
    fn follow_clients(&mut self, clients: Clients) {
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
                "{}: cut: the list of clients does not have it any more",
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
            self.let_out(number);
        }
        if let End::Responder(responder) = &mut self.end {
            responder.set_clients(clients);
        }
    }

    /// Applies a list of links. Links whose name remains keep their number and their state.
    fn follow_links(&mut self, links: &[Link]) {
        // Bytes carried so far count under the previous contracts.
        self.count_carried();
        for number in 0..self.contracts.len() {
            let Some(name) = self.contracts.name(number) else {
                continue;
            };
            match links.iter().find(|link| link.name == name) {
                Some(link) => {
                    self.sockets.set_link(number, link);
                    self.contracts.set(number, link);
                }
                None => {
                    info!("link {name}: removed");
                    self.contracts.remove(number);
                    self.sockets.remove_link(number);
                    if number < self.peers[0].sender.links() {
                        self.peers[0].sender.set_up(number, false);
                    }
                }
            }
        }
        for link in links {
            if self.contracts.has(&link.name) {
                continue;
            }
            if self.contracts.len() > usize::from(TunnelHeader::MAX_LINK) {
                warn!(
                    "link {}: no number is left for it; it takes a restart",
                    link.name
                );
                continue;
            }
            self.contracts.add(link);
            self.sockets.add_link(link);
        }
        self.watch.hurry();
        if let Some(names) = &mut self.names {
            names.hurry_all();
        }
    }
}
