//! Reliable announcement of links' terms to the peer.

use ropewalk_quantities::Time;
use ropewalk_wire::gateway::tunnel::LinkTerms;

/// Time until terms are repeated if they are not acknowledged; it doubles each time.
const FIRST_WAIT: Time = Time::from_millis(200);
const MAX_WAIT: Time = Time::from_secs(10);

/// The announced terms of each link, and whether the peer has acknowledged them.
#[derive(Clone, Debug, Default)]
pub struct TermsAnnouncer {
    links: Vec<Announced>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Announced {
    terms: LinkTerms,
    /// Zero if there is nothing to announce.
    version: u32,
    /// When they are sent next, unless they are acknowledged.
    due: Option<Time>,
    wait: Time,
}

impl TermsAnnouncer {
    /// Sets the terms of a link.
    pub fn set(&mut self, now: Time, link: usize, terms: LinkTerms) {
        if self.links.len() <= link {
            self.links.resize(link + 1, Announced::default());
        }
        let told = &mut self.links[link];
        if told.terms != terms {
            (told.terms, told.version) = (terms, told.version + 1);
            told.hurry(now);
        }
    }

    /// Announces everything again, since the peer may have lost its state.
    pub fn announce_all(&mut self, now: Time) {
        for told in self.links.iter_mut().filter(|told| told.version > 0) {
            told.hurry(now);
        }
    }

    /// Notes that the peer has acknowledged terms of a link.
    pub fn on_seen(&mut self, link: usize, version: u32) {
        if let Some(told) = self.links.get_mut(link)
            && told.version == version
        {
            told.due = None;
        }
    }

    /// Returns when an announcement is due.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        self.links.iter().filter_map(|told| told.due).min()
    }

    /// Returns the announcements that are due: links, versions, terms.
    pub fn poll(&mut self, now: Time) -> Vec<(usize, u32, LinkTerms)> {
        let links = self.links.iter_mut().enumerate();
        let due = links.filter(|(_, told)| told.due.is_some_and(|due| due <= now));
        let due = due.map(|(link, told)| {
            told.due = Some(now + told.wait);
            told.wait = (told.wait * 2).min(MAX_WAIT);
            (link, told.version, told.terms)
        });
        due.collect()
    }
}

/// The peer's announcements: the newest version of each link.
#[derive(Clone, Debug, Default)]
pub struct AnnouncedTerms {
    versions: Vec<u32>,
}

impl AnnouncedTerms {
    /// Whether terms of this version are newer than all that were received for a link.
    pub fn is_newer(&mut self, link: u8, version: u32) -> bool {
        let link = usize::from(link);
        if self.versions.len() <= link {
            self.versions.resize(link + 1, 0);
        }
        let is_newer = version > self.versions[link];
        self.versions[link] = self.versions[link].max(version);
        is_newer
    }
}

impl Announced {
    fn hurry(&mut self, now: Time) {
        (self.due, self.wait) = (Some(now), FIRST_WAIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;
    const STANDBY: LinkTerms = LinkTerms {
        standby: true,
        ..LinkTerms::DEFAULT
    };

    #[test]
    fn default_terms_are_not_announced() {
        let mut announcer = TermsAnnouncer::default();
        announcer.set(MS(1), 3, LinkTerms::default());
        assert_eq!(announcer.due(), None);
        announcer.announce_all(MS(2));
        assert!(announcer.poll(MS(9)).is_empty());
    }

    #[test]
    fn terms_are_repeated_until_they_are_seen() {
        let mut announcer = TermsAnnouncer::default();
        announcer.set(MS(0), 1, STANDBY);
        let said = [(1, 1, STANDBY)];
        assert_eq!(announcer.poll(MS(0)), said);
        assert!(announcer.poll(MS(199)).is_empty());
        assert_eq!(announcer.poll(MS(200)), said);
        assert_eq!(announcer.due(), Some(MS(600)));
        // Acknowledgements of other terms, and of another link.
        announcer.on_seen(1, 2);
        announcer.on_seen(7, 1);
        assert_eq!(announcer.poll(MS(600)), said);
        announcer.on_seen(1, 1);
        assert_eq!(announcer.due(), None);
    }

    #[test]
    fn late_or_repeated_terms_are_ignored() {
        let mut said = AnnouncedTerms::default();
        let came = [(1, 1), (1, 3), (1, 2), (1, 3), (0, 1), (1, 4)];
        let news = came.map(|(link, version)| said.is_newer(link, version));
        assert_eq!(news, [true, true, false, false, true, true]);
    }

    #[test]
    fn newest_terms_are_announced() {
        let mut announcer = TermsAnnouncer::default();
        announcer.set(MS(0), 0, STANDBY);
        let _ = announcer.poll(MS(0));
        announcer.set(MS(50), 0, LinkTerms::default());
        announcer.on_seen(0, 1);
        assert_eq!(announcer.poll(MS(50)), [(0, 2, LinkTerms::default())]);
        announcer.on_seen(0, 2);
        // Another handshake repeats all announcements.
        announcer.announce_all(MS(99));
        assert_eq!(announcer.poll(MS(99)), [(0, 2, LinkTerms::default())]);
    }
}
