//! Standby of links and its end, at both ends; the client decides.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{LinkTerms, Ping};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};
use tracing::info;

use super::{Engine, HandshakeRole, sending};
use crate::tunnel::peer::Peer;
use crate::tunnel::refusal::Refusal;
use crate::tunnel::sockets::TunnelSockets;

impl Engine {
    pub(super) fn count_carried(&mut self) {
        let (_, now) = self.now();
        let sockets = &self.sockets;
        self.policies.count(now, |link| sockets.take_carried(link));
    }

    pub(super) fn update_terms(&mut self) {
        let (instant, now) = self.now();
        let HandshakeRole::Initiator(dialer) = &mut self.end else {
            return;
        };
        let sockets = &self.sockets;
        if self.policies.is_count_due(now) {
            self.policies.count(now, |link| sockets.take_carried(link));
        }
        let peer = &mut self.peers[0];
        let is_open = peer.is_open(instant);
        self.policies.follow(now, |link| {
            let has_socket = sockets.get(link).is_some();
            let is_known = has_socket && is_open && link < peer.sender.links();
            (has_socket, is_known && peer.sender.is_alive(link))
        });
        for link in 0..self.policies.len() {
            let (before, terms) = (peer.terms(link), self.policies.terms(link));
            if before == terms {
                continue;
            }
            if before.standby != terms.standby
                && let Some(name) = self.policies.name(link)
            {
                let state = if terms.standby {
                    "on standby"
                } else {
                    "in use"
                };
                info!("link {name}: {state}");
            }
            self.announcer.set(now, link, terms);
            apply_terms(peer, now, link, terms, sockets);
            if !is_open {
                dialer.retry_now(instant);
            }
            self.status_changed = true;
        }
        if is_open && self.announcer.due().is_some_and(|due| due <= now) {
            self.announce_terms(now);
        }
    }

    /// Announces due terms, on the fastest link and on the link itself.
    fn announce_terms(&mut self, now: Time) {
        let peer = &mut self.peers[0];
        for (link, version, terms) in self.announcer.poll(now) {
            let frame = TunnelFrame::Terms {
                link: link as u8,
                version,
                terms,
            };
            for by in peer.sender.terms_links(now, link) {
                peer.answer(now, by, &frame, sending(&self.sockets));
            }
        }
        peer.flush(now, sending(&self.sockets));
    }

    /// Returns when terms may change, or must be announced.
    pub(super) fn terms_due(&self, is_open: bool) -> Option<Time> {
        let policies = self.policies.due(self.sockets.has_carried());
        let announcer = self.announcer.due().filter(|_| is_open);
        policies.into_iter().chain(announcer).min()
    }
}

pub(super) fn on_terms(
    peer: &mut Peer,
    now: Time,
    (link, version, terms): (u8, u32, LinkTerms),
    by: u8,
    sockets: &TunnelSockets,
) -> Result<(), Refusal> {
    if link > TunnelHeader::MAX_LINK {
        return Err(Refusal::Malformed);
    }
    if peer.announced.is_newer(link, version) {
        apply_terms(peer, now, usize::from(link), terms, sockets);
    }
    let seen = TunnelFrame::TermsSeen { link, version };
    if let Some(by) = peer.sender.answer_link(now, usize::from(by)) {
        peer.answer(now, by, &seen, sending(sockets));
    }
    Ok(())
}

/// Changes the terms of a link, and pings it if its standby ends.
fn apply_terms(peer: &mut Peer, now: Time, link: usize, terms: LinkTerms, sockets: &TunnelSockets) {
    let ends_standby = peer.terms(link).standby && !terms.standby;
    peer.set_terms(now, link, terms);
    if ends_standby && link < peer.sender.links() && peer.sender.is_in_use(link) {
        peer.ping(now, Ping::keepalive(link), sending(sockets));
    }
}
