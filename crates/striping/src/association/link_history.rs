//! State of links that outlives their carriers.

use std::collections::BTreeMap;

use ropewalk_quantities::Time;

use crate::carrier::LinkHistory;

/// Time limit of a new carrier for its first frame (RFC 6298, section 2.1). It doubles for each carrier of
/// the same link that was suspected before its first frame.
const INITIAL_TIMEOUT: Time = Time::from_secs(1);
const MAX_DOUBLINGS: u32 = 5;

/// Limit of the number of links, since a peer may name arbitrary links.
const MOST: usize = 256;

#[derive(Debug, Default)]
pub(super) struct LinkHistories {
    /// Consecutive carriers that were suspected before their first frame.
    suspected_early: BTreeMap<u32, u32>,
    histories: BTreeMap<u32, LinkHistory>,
}

impl LinkHistories {
    pub(super) fn first_timeout(&self, link: u32) -> Time {
        let doubled = self.suspected_early.get(&link).copied().unwrap_or(0);
        INITIAL_TIMEOUT * (1 << doubled.min(MAX_DOUBLINGS))
    }

    pub(super) fn on_suspected_early(&mut self, link: u32) {
        if self.suspected_early.len() >= MOST {
            self.suspected_early.pop_first();
        }
        *self.suspected_early.entry(link).or_default() += 1;
    }

    pub(super) fn on_heard(&mut self, link: u32) {
        self.suspected_early.remove(&link);
    }

    pub(super) fn history(&self, link: u32) -> Option<LinkHistory> {
        self.histories.get(&link).copied()
    }

    pub(super) fn remember(&mut self, link: u32, history: LinkHistory) {
        if self.histories.len() >= MOST {
            self.histories.pop_first();
        }
        self.histories.insert(link, history);
    }
}
