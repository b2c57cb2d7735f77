//! What is remembered of links beyond their carriers.

use std::collections::BTreeMap;

use ropewalk_quantities::Time;

use crate::carrier::LinkHistory;

/// How long a new carrier may take to give a first sign of life (RFC 6298, section 2.1). It doubles for each
/// carrier of the same link that was suspected before it gave one.
const INITIAL_TIMEOUT: Time = Time::from_secs(1);
const MAX_DOUBLINGS: u32 = 5;

/// Most links of which something is remembered. A peer may name links at will.
const MOST: usize = 256;

/// By the number of the link.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// How many carriers in a row were suspected before they gave a first sign of life.
    suspected_early: BTreeMap<u32, u32>,
    /// What was learnt on the last carrier.
    histories: BTreeMap<u32, LinkHistory>,
}

impl Links {
    /// How long the next carrier of a link may take to give a first sign of life.
    pub(super) fn first_timeout(&self, link: u32) -> Time {
        let doubled = self.suspected_early.get(&link).copied().unwrap_or(0);
        INITIAL_TIMEOUT * (1 << doubled.min(MAX_DOUBLINGS))
    }

    /// A carrier was suspected before it gave a first sign of life.
    pub(super) fn on_suspected_early(&mut self, link: u32) {
        if self.suspected_early.len() >= MOST {
            self.suspected_early.pop_first();
        }
        *self.suspected_early.entry(link).or_default() += 1;
    }

    /// A carrier gave a sign of life.
    pub(super) fn on_heard(&mut self, link: u32) {
        self.suspected_early.remove(&link);
    }

    /// What was learnt of a link.
    pub(super) fn history(&self, link: u32) -> Option<LinkHistory> {
        self.histories.get(&link).copied()
    }

    /// A carrier that is gone has learnt this.
    pub(super) fn remember(&mut self, link: u32, history: LinkHistory) {
        if self.histories.len() >= MOST {
            self.histories.pop_first();
        }
        self.histories.insert(link, history);
    }
}
