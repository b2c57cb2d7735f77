//! Terms of links: standby, and rate limits.

use ropewalk_quantities::Time;

use super::Sender;
use crate::tunnel::LinkTerms;

/// Approximate length of a datagram with terms.
const TERMS: u64 = 100;

impl<P: Clone> Sender<P> {
    /// Returns the terms of a link.
    #[must_use]
    pub fn terms(&self, link: usize) -> LinkTerms {
        self.links.terms[link]
    }

    /// Changes the terms of a link; the driver announces them to the peer.
    ///
    /// Packets in flight on a link that goes on standby still arrive, or are detected as lost. A link that
    /// returns from standby is measured as if it were new, except for its path MTU: the driver sends a ping
    /// on it.
    pub fn set_terms(&mut self, now: Time, link: usize, terms: LinkTerms) {
        let link = self.links.change(link);
        let before = std::mem::replace(link.terms, terms);
        if terms.rate != before.rate {
            link.control.set_rate_limit(terms.rate);
        }
        if before.standby && !terms.standby {
            self.activity.begin(now);
            let lost = link.buffer.give_up();
            lost.for_each(|packet| self.repairs.push(packet));
            link.control.reset(now);
        }
        self.update_usable();
    }

    /// Whether packets, pings and probes may be sent on a link: it is up, and not on standby.
    #[must_use]
    pub fn is_in_use(&self, link: usize) -> bool {
        self.links.is_in_use(link)
    }

    /// Whether a link is in use, has been heard since it came up or returned, and is not suspected.
    #[must_use]
    pub fn is_alive(&self, link: usize) -> bool {
        let control = &self.links.controls[link];
        let heard = control.smoothed().is_some() && !control.suspected();
        heard && self.is_in_use(link) && self.links.path_mtu(link).plpmtu() > 0
    }

    /// Returns the links for an announcement of a link's terms: the fastest, and that link itself, which
    /// shows the peer that the link is back.
    pub fn terms_links(&self, now: Time, about: usize) -> impl Iterator<Item = usize> + use<P> {
        let quickest = self.quickest(now, TERMS);
        let is_in_use = about < self.links.len() && self.is_in_use(about);
        let own = (is_in_use && quickest != Some(about)).then_some(about);
        quickest.into_iter().chain(own)
    }

    /// Returns the link for the answer to a datagram of a link: the same, unless it is on standby by now.
    #[must_use]
    pub fn answer_link(&self, now: Time, link: usize) -> Option<usize> {
        match self.is_in_use(link) {
            true => Some(link),
            false => self.quickest(now, TERMS),
        }
    }

    /// Returns the best link for an urgent packet of `bytes` bytes, of those whose rate limit allows it now.
    pub(super) fn urgent_link(&self, now: Time, bytes: u64) -> Option<usize> {
        let usable = self.usable.iter().copied();
        let links = &self.links.controls;
        let open = usable.filter(|&link| links[link].allowed_at() <= now);
        open.min_by_key(|&link| links[link].urgent_rank(now, bytes))
    }

    /// Returns when the first rate limit allows a datagram, if urgent packets are queued for that.
    pub(super) fn urgent_at(&self) -> Option<Time> {
        self.urgent.front()?;
        let usable = self.usable.iter();
        usable
            .map(|&link| self.links.controls[link].allowed_at())
            .min()
    }
}
