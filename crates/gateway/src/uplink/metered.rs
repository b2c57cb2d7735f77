//! A carrier whose bytes are counted.

use std::sync::Arc;

use ropewalk_quantities::Bytes;

use crate::association::CarrierTask;
use crate::links::Link;
use crate::quota::Book;

/// A carrier; what it carries is its link's, up to the moment when this is dropped.
pub(super) struct Metered {
    pub(super) task: CarrierTask,
    link: Arc<Link>,
    book: Book,
    counted: u64,
    /// What both ends were told that it may carry; `None` if that is not bounded.
    granted: Option<Bytes>,
}

impl Metered {
    pub(super) fn new(
        task: CarrierTask,
        link: Arc<Link>,
        book: Book,
        granted: Option<Bytes>,
    ) -> Metered {
        let mut metered = Metered {
            task,
            link,
            book,
            counted: 0,
            granted,
        };
        // Its handshake.
        metered.count();
        metered
    }

    /// Counts what went since the last time. Whether both ends are to be told anew what the link may carry: it may
    /// nothing more, or what they were told has gone and there is some again.
    pub(super) fn look(&mut self) -> bool {
        self.count();
        let Some(granted) = self.granted.map(Bytes::as_u64) else {
            return false;
        };
        match self.book.may_carry(&self.link).map(Bytes::as_u64) {
            Some(0) => granted > 0,
            Some(_) => self.counted >= granted,
            None => false,
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
