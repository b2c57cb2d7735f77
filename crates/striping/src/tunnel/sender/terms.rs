//! On what terms the links are used: which of them are on standby, and what each may carry.

use ropewalk_quantities::Time;

use super::Sender;
use crate::tunnel::LinkTerms;

/// What a datagram with terms has, about.
const TERMS: u64 = 100;

impl<P: Clone> Sender<P> {
    /// On what terms a link is used.
    #[must_use]
    pub fn terms(&self, link: usize) -> LinkTerms {
        self.terms[link]
    }

    /// A link is used on these terms from now on; the other end is to be told by the driver.
    ///
    /// What is on its way on a link that goes on standby still arrives, or is found to be lost. One that comes
    /// back is measured as if it had never been there, but for its path MTU: the driver sends it a ping.
    pub fn set_terms(&mut self, now: Time, link: usize, terms: LinkTerms) {
        let before = std::mem::replace(&mut self.terms[link], terms);
        if terms.rate != before.rate {
            self.links[link].throttle(terms.rate);
        }
        if before.standby && !terms.standby {
            self.packet_at = self.packet_at.max(now);
            self.repairs.extend(self.kept[link].give_up());
            self.links[link].begin_anew(now);
        }
        self.reconsider();
    }

    /// Whether packets, pings and probes may go by a link: it is there, and not on standby.
    #[must_use]
    pub fn is_in_use(&self, link: usize) -> bool {
        self.up[link] && !self.terms[link].standby
    }

    /// Whether a link is in use, has been heard since it began or came back, and is trusted.
    #[must_use]
    pub fn is_alive(&self, link: usize) -> bool {
        let control = &self.links[link];
        let heard = control.smoothed().is_some() && !control.suspected();
        heard && self.is_in_use(link) && self.path_mtus[link].plpmtu() > 0
    }

    /// The links by which the other end is told on what terms a link is used: the quickest, and that
    /// one itself, by which it learns that the link is back.
    pub fn terms_links(&self, now: Time, about: usize) -> impl Iterator<Item = usize> + use<P> {
        let quickest = self.quickest(now, TERMS);
        let is_in_use = about < self.links.len() && self.is_in_use(about);
        let own = (is_in_use && quickest != Some(about)).then_some(about);
        quickest.into_iter().chain(own)
    }

    /// The link by which what came by a link is answered: that one, unless it is on standby by now.
    #[must_use]
    pub fn answer_link(&self, now: Time, link: usize) -> Option<usize> {
        match self.is_in_use(link) {
            true => Some(link),
            false => self.quickest(now, TERMS),
        }
    }

    /// The link on which so many bytes would arrive first, of those whose throttle lets them go now.
    pub(super) fn quickest_open(&self, now: Time, bytes: u64) -> Option<usize> {
        let usable = self.usable.iter().copied();
        let open = usable.filter(|&link| self.links[link].opens_at() <= now);
        open.min_by_key(|&link| self.links[link].arrival(now, bytes))
    }

    /// When the first throttle lets something go, if urgent packets wait for that.
    pub(super) fn urgent_at(&self) -> Option<Time> {
        self.urgent.packets.front()?;
        let usable = self.usable.iter();
        usable.map(|&link| self.links[link].opens_at()).min()
    }
}
