//! A carrier whose bytes are counted.

use std::sync::Arc;

use ropewalk_striping::Terms;

use crate::association::CarrierTask;
use crate::links::Link;
use crate::quota::Book;

/// The relay is told of a price that is another by so much, as a part of it.
const ANOTHER_PRICE: f64 = 0.1;

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
        if self.are_others(&terms) {
            self.task.set_terms(terms);
            self.terms = terms;
            self.since = self.counted;
        }
    }

    /// Both ends count down what they were told that it may carry: they are told again when that is gone and
    /// there is some, or there is none any more.
    fn are_others(&self, terms: &Terms) -> bool {
        let told = &self.terms;
        let carried = self.counted - self.since;
        let has_some = match (told.quota, terms.quota) {
            (Some(told), Some(now)) if now.as_u64() == 0 => told.as_u64() > 0,
            (Some(told), Some(_)) => carried >= told.as_u64(),
            (told, now) => told.is_some() != now.is_some(),
        };
        let is_dearer = (terms.cost - told.cost).abs() > ANOTHER_PRICE * told.cost;
        has_some || is_dearer || terms.rate != told.rate
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
