//! Links with quotas: the client measures their use, and announces the resulting terms to the server.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::tunnel::{AnnouncedTerms, LinkTerms, TermsAnnouncer};
use ropewalk_striping::{Candidate, Standby, Terms, Tier};

use super::end::{End, TunnelMessage};

#[derive(Debug, Default)]
pub(super) struct LinksTerms {
    /// Terms from the meters of each link; none before the first reading.
    uses: Vec<Terms>,
    standby: Standby,
    announcer: TermsAnnouncer,
    announced: AnnouncedTerms,
}

impl LinksTerms {
    pub(super) fn set(&mut self, uses: &[Terms]) {
        self.uses.clear();
        self.uses.extend_from_slice(uses);
    }

    /// Applies the current terms at the client, and announces them.
    pub(super) fn apply(&mut self, now: Time, client: &mut End) {
        if self.uses.is_empty() {
            return;
        }
        let tier = |terms: &Terms| match terms.quota == Some(Bytes::new(0)) {
            true => Tier::LastResort,
            false => Tier::Primary,
        };
        let links = self.uses.iter().enumerate().map(|(link, terms)| Candidate {
            tier: Some(tier(terms)),
            exists: true,
            is_alive: client.sender.is_alive(link),
        });
        self.standby.follow(now, links);
        for (link, terms) in self.uses.iter().enumerate() {
            let terms = LinkTerms {
                standby: self.standby.includes(Some(tier(terms))),
                rate: terms.rate,
                ..LinkTerms::default()
            };
            if client.sender.terms(link) != terms {
                self.announcer.set(now, link, terms);
                client.apply_terms(now, link, terms);
            }
        }
        let clock = client.clock(now);
        for (link, version, terms) in self.announcer.poll(now) {
            for by in client.sender.terms_links(clock, link) {
                client
                    .due
                    .push_back(TunnelMessage::Terms(by, link as u8, version, terms));
            }
        }
    }

    /// Handles the client's announcement of terms, possibly on another link.
    pub(super) fn on_announcement(
        &mut self,
        now: Time,
        server: &mut End,
        (link, version, terms): (u8, u32, LinkTerms),
        by: u8,
    ) {
        if self.announced.is_newer(link, version) {
            server.apply_terms(now, usize::from(link), terms);
        }
        let clock = server.clock(now);
        if let Some(by) = server.sender.answer_link(clock, usize::from(by)) {
            server
                .due
                .push_back(TunnelMessage::TermsSeen(by, link, version));
        }
    }

    pub(super) fn on_seen(&mut self, link: u8, version: u32) {
        self.announcer.on_seen(usize::from(link), version);
    }

    /// Returns when terms may change, or must be announced.
    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let due = self.standby.due().into_iter().chain(self.announcer.due());
        due.min().filter(|_| !self.uses.is_empty())
    }
}
