//! Which streams were, which are, and which may yet be.

use ropewalk_transport::RangeSet;

use crate::Role;

/// Streams that one end can open: their numbers have 32 bits.
const MOST: u64 = (1 << 31) - 1;

/// The numbers of the streams that one end opens, as an index from zero.
///
/// Frames of streams come over several carriers, so a stream may be heard of before one that was
/// opened earlier. Those passed over may still come; how many these are is bounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamIds {
    /// Above all that were heard of.
    next: u64,
    /// Of those below `next`, the ones that exist or existed.
    known: RangeSet,
}

impl StreamIds {
    /// Whether the stream exists or existed.
    pub(crate) fn is_known(&self, index: u64) -> bool {
        self.known.containing(index).is_some()
    }

    /// Whether all numbers have been given away.
    pub(crate) fn is_used_up(&self) -> bool {
        self.next >= MOST
    }

    /// The next to be opened at this end.
    pub(crate) fn open(&mut self) -> u64 {
        let index = self.next;
        self.insert(index);
        index
    }

    /// A new one was heard of.
    pub(crate) fn insert(&mut self, index: u64) {
        self.known.insert(index, index + 1);
        self.next = self.next.max(index + 1);
    }

    /// How many would be passed over if this one were heard of.
    pub(crate) fn passed_over(&self, index: u64) -> u64 {
        self.next.max(index) - self.known.covered()
    }
}

/// Whether a stream of this number is opened by that end.
pub(crate) fn is_opened_by(stream: u32, role: Role) -> bool {
    (stream % 2 == 1) == (role == Role::Initiator)
}

/// Its index among those of its end.
pub(crate) fn index(stream: u32) -> u64 {
    u64::from((stream - 1) / 2)
}

/// The number of the stream with this index.
pub(crate) fn number(index: u64, role: Role) -> u32 {
    let first = match role {
        Role::Initiator => 1,
        Role::Responder => 2,
    };
    (index as u32) * 2 + first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_and_even() {
        for (role, numbers) in [(Role::Initiator, [1, 3, 5]), (Role::Responder, [2, 4, 6])] {
            for (at, wanted) in numbers.into_iter().enumerate() {
                assert_eq!(number(at as u64, role), wanted);
                assert_eq!(index(wanted), at as u64);
                assert!(is_opened_by(wanted, role));
            }
        }
        assert!(!is_opened_by(2, Role::Initiator));
    }

    #[test]
    fn those_passed_over_are_counted() {
        let mut ids = StreamIds::default();
        assert_eq!(ids.open(), 0);
        assert_eq!(ids.passed_over(1), 0);
        assert_eq!(ids.passed_over(5), 4);
        ids.insert(5);
        assert!(ids.is_known(5) && !ids.is_known(3));
        assert_eq!(ids.passed_over(3), 4);
        ids.insert(3);
        assert_eq!(ids.passed_over(6), 3);
        assert_eq!(ids.open(), 6);
    }
}
