//! Stream numbers of both ends: used, in use, and free.

use ropewalk_transport::RangeSet;

use crate::{Role, StreamId};

/// Streams that one end can open: numbers have 32 bits.
const MAX: u64 = (1 << 31) - 1;

/// The stream numbers of one end, as indices from zero.
///
/// Frames of streams arrive over several carriers, so a stream can be seen before one that was opened
/// earlier. Skipped streams may still arrive; their number is bounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamIds {
    /// One above the highest that was seen.
    next: u64,
    /// Indices below `next` that exist or existed.
    known: RangeSet,
}

impl StreamIds {
    pub(crate) fn is_known(&self, index: u64) -> bool {
        self.known.containing(index).is_some()
    }

    pub(crate) fn is_used_up(&self) -> bool {
        self.next >= MAX
    }

    pub(crate) fn open(&mut self) -> u64 {
        let index = self.next;
        self.insert(index);
        index
    }

    pub(crate) fn insert(&mut self, index: u64) {
        self.known.insert(index, index + 1);
        self.next = self.next.max(index + 1);
    }

    /// Number of streams that would be skipped if this one were seen.
    pub(crate) fn skipped_before(&self, index: u64) -> u64 {
        self.next.max(index) - self.known.covered()
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    pub(crate) own: StreamIds,
    pub(crate) peer: StreamIds,
    pub(crate) peers_open: u32,
}

pub(crate) fn is_opened_by(id: StreamId, role: Role) -> bool {
    (id.0 % 2 == 1) == (role == Role::Initiator)
}

pub(crate) fn index(id: StreamId) -> u64 {
    u64::from((id.0 - 1) / 2)
}

pub(crate) fn stream_id(index: u64, role: Role) -> StreamId {
    let first = match role {
        Role::Initiator => 1,
        Role::Responder => 2,
    };
    StreamId((index as u32) * 2 + first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_ids_are_odd_or_even_by_role() {
        for (role, numbers) in [(Role::Initiator, [1, 3, 5]), (Role::Responder, [2, 4, 6])] {
            for (at, wanted) in numbers.map(StreamId).into_iter().enumerate() {
                assert_eq!(stream_id(at as u64, role), wanted);
                assert_eq!(index(wanted), at as u64);
                assert!(is_opened_by(wanted, role));
            }
        }
        assert!(!is_opened_by(StreamId(2), Role::Initiator));
    }

    #[test]
    fn skipped_ids_are_counted() {
        let mut ids = StreamIds::default();
        assert_eq!(ids.open(), 0);
        assert_eq!(ids.skipped_before(1), 0);
        assert_eq!(ids.skipped_before(5), 4);
        ids.insert(5);
        assert!(ids.is_known(5) && !ids.is_known(3));
        assert_eq!(ids.skipped_before(3), 4);
        ids.insert(3);
        assert_eq!(ids.skipped_before(6), 3);
        assert_eq!(ids.open(), 6);
    }
}
