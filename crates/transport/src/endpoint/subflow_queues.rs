//! Send queues of the subflows, and which of them are blocked.

use crate::scheduling::SubflowSet;

/// Subflows with assigned and unsent data, and their limits.
#[derive(Debug)]
pub(super) struct SubflowQueues {
    filled: SubflowSet,
    /// Subflows with queued data that had no space in their windows when polled; see
    /// [`mark_ready`](SubflowQueues::mark_ready).
    blocked: SubflowSet,
    /// End of the first data of a blocked subflow: once they are acknowledged, all are polled again.
    blocked_until: u64,
    /// Subflows limited only by their congestion window, with or without queued data.
    cwnd_limited: SubflowSet,
}

impl SubflowQueues {
    pub(super) const EMPTY: SubflowQueues = SubflowQueues {
        filled: SubflowSet::NONE,
        blocked: SubflowSet::NONE,
        blocked_until: u64::MAX,
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
        self.filled.without(self.blocked)
    }

    pub(super) fn blocked(&self) -> SubflowSet {
        self.filled.and(self.blocked)
    }

    /// Marks a subflow without space for the first data of its queue, which end at this offset.
    #[inline]
    pub(super) fn mark_blocked(&mut self, subflow: usize, end: u64) {
        self.cwnd_limited.insert(subflow);
        self.blocked.insert(subflow);
        self.blocked_until = self.blocked_until.min(end);
    }

    /// Unmarks a subflow that may have space for its queued data: a segment arrived, a timer expired, a probe
    /// took data from its queue, or the queue is new. Nothing else frees space.
    #[inline]
    pub(super) fn mark_ready(&mut self, subflow: usize) {
        self.blocked.remove(subflow);
    }

    #[inline]
    pub(super) fn is_any_acknowledged(&self, una: u64) -> bool {
        una >= self.blocked_until
    }

    #[inline]
    pub(super) fn mark_all_ready(&mut self) {
        self.blocked = SubflowSet::NONE;
        self.blocked_until = u64::MAX;
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
