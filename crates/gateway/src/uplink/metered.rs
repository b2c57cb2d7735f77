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
    /// Both ends were told that nothing was left.
    is_last_resort: bool,
}

impl Metered {
    pub(super) fn new(task: CarrierTask, link: Arc<Link>, book: Book) -> Metered {
        let is_last_resort = book.left(&link) == Some(Bytes::new(0));
        let mut metered = Metered {
            task,
            link,
            book,
            counted: 0,
            is_last_resort,
        };
        // Its handshake.
        metered.count();
        metered
    }

    /// Counts what went since the last time. Whether the quota has come to its end since the carrier
    /// came up, or is whole again.
    pub(super) fn look(&mut self) -> bool {
        self.count();
        let is_gone = self.book.left(&self.link) == Some(Bytes::new(0));
        is_gone != self.is_last_resort
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
