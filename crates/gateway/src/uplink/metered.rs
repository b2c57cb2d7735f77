//! A carrier whose bytes are counted.

use std::sync::Arc;

use ropewalk_quantities::Bytes;
use ropewalk_striping::Terms;

use crate::association::CarrierTask;
use crate::links::Link;
use crate::quota::Book;

/// A carrier; what it carries is its link's, up to the moment when this is dropped.
pub(super) struct Metered {
    pub(super) task: CarrierTask,
    link: Arc<Link>,
    book: Book,
    counted: u64,
    /// On what terms both ends use it, and what had been counted when they were told.
    terms: Terms,
    since: u64,
}

impl Metered {
    pub(super) fn new(task: CarrierTask, link: Arc<Link>, book: Book, terms: Terms) -> Metered {
        let mut metered = Metered {
            task,
            link,
            book,
            counted: 0,
            terms,
            since: 0,
        };
        // Its handshake.
        metered.count();
        metered
    }

    /// Counts what went since the last time, and tells both ends on what terms the link is used now, if
    /// these are others.
    pub(super) fn look(&mut self) {
        self.count();
        let terms = self.book.terms(&self.link);
        let used = Bytes::new(self.counted - self.since);
        if terms.are_new_after(&self.terms, used) {
            self.task.set_terms(terms);
            self.terms = terms;
            self.since = self.counted;
        }
    }

    fn count(&mut self) {
        if self.link.allowance.is_metered() {
            // A socket that says nothing has carried nothing more that could be counted.
            let carried = self.task.carried().unwrap_or(self.counted);
            let more = carried.saturating_sub(self.counted);
            self.book.charge(&self.link, more);
            self.counted += more;
        }
    }
}

impl Drop for Metered {
    fn drop(&mut self) {
        self.count();
    }
}
