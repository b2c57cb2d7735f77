//! Send queues of the subflows, and which of them are blocked.

use crate::scheduling::SubflowSet;

/// Subflows with assigned and unsent data, and their limits.
#[derive(Debug)]
pub(super) struct Queues {
    filled: SubflowSet,
    /// Subflows with queued data that had no space in their windows when polled; see
    /// [`ask_again`](Queues::ask_again).
    full: SubflowSet,
    /// End of the first data of a full subflow: once they are acknowledged, all are polled again.
    full_until: u64,
    /// Subflows limited only by their congestion window, with or without queued data.
    cwnd_limited: SubflowSet,
}

impl Queues {
    pub(super) const EMPTY: Queues = Queues {
        filled: SubflowSet::NONE,
        full: SubflowSet::NONE,
        full_until: u64::MAX,
        cwnd_limited: SubflowSet::NONE,
    };

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }

    #[inline]
    pub(super) fn fill(&mut self, subflow: usize) {
        self.filled.insert(subflow);
    }

    #[inline]
    pub(super) fn empty(&mut self, subflow: usize) {
        self.filled.remove(subflow);
    }

    #[inline]
    pub(super) fn to_poll(&self) -> SubflowSet {
        self.filled.without(self.full)
    }

    pub(super) fn full(&self) -> SubflowSet {
        self.filled.and(self.full)
    }

    /// Marks a subflow without space for the first data of its queue, which end at this offset.
    #[inline]
    pub(super) fn note_full(&mut self, subflow: usize, end: u64) {
        self.cwnd_limited.insert(subflow);
        self.full.insert(subflow);
        self.full_until = self.full_until.min(end);
    }

    /// Unmarks a subflow that may have space for its queued data: a segment arrived, a timer expired, a probe
    /// took data from its queue, or the queue is new. Nothing else frees space.
    #[inline]
    pub(super) fn ask_again(&mut self, subflow: usize) {
        self.full.remove(subflow);
    }

    #[inline]
    pub(super) fn are_overtaken(&self, una: u64) -> bool {
        una >= self.full_until
    }

    #[inline]
    pub(super) fn ask_all_again(&mut self) {
        self.full = SubflowSet::NONE;
        self.full_until = u64::MAX;
    }

    #[inline]
    pub(super) fn is_cwnd_limited(&self, subflow: usize) -> bool {
        self.cwnd_limited.contains(subflow)
    }

    #[inline]
    pub(super) fn limit_by_cwnd(&mut self, subflow: usize) {
        self.cwnd_limited.insert(subflow);
    }

    /// Marks all subflows without queued data as limited by the data or the peer's window.
    #[inline]
    pub(super) fn limit_by_data(&mut self) {
        self.cwnd_limited = self.cwnd_limited.and(self.filled);
    }
}
