//! Which subflows have queued data, and what they wait for.

use crate::scheduling::SubflowSet;

/// Subflows with data that a scheduler assigned to them and that are not sent, and what limits them.
#[derive(Debug)]
pub(super) struct Queues {
    filled: SubflowSet,
    /// Of those, the ones that were polled and had no room; see [`ask_again`](Queues::ask_again).
    full: SubflowSet,
    /// End of the first data that one of them would send: once it is acknowledged, they are polled again.
    full_until: u64,
    /// Subflows that only their congestion window limits, whether or not they have queued data.
    cwnd_limited: SubflowSet,
}

impl Queues {
    /// Nothing is queued.
    pub(super) const EMPTY: Queues = Queues {
        filled: SubflowSet::NONE,
        full: SubflowSet::NONE,
        full_until: u64::MAX,
        cwnd_limited: SubflowSet::NONE,
    };

    /// Whether nothing is queued.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }

    /// Data were queued on this subflow.
    #[inline]
    pub(super) fn fill(&mut self, subflow: usize) {
        self.filled.insert(subflow);
    }

    /// This subflow has no queued data any more.
    #[inline]
    pub(super) fn empty(&mut self, subflow: usize) {
        self.filled.remove(subflow);
    }

    /// Subflows with queued data that may have room for them.
    #[inline]
    pub(super) fn to_poll(&self) -> SubflowSet {
        self.filled.without(self.full)
    }

    /// Subflows with queued data that have no room for them.
    pub(super) fn full(&self) -> SubflowSet {
        self.filled.and(self.full)
    }

    /// A subflow has no room for the first data of its queue, which end at this offset.
    #[inline]
    pub(super) fn note_full(&mut self, subflow: usize, end: u64) {
        self.cwnd_limited.insert(subflow);
        self.full.insert(subflow);
        self.full_until = self.full_until.min(end);
    }

    /// A subflow may have room for its queued data: a segment arrived, a timer expired, a probe took
    /// something off its queue, or the queue is new. Nothing else gives it room, so one that was full is not
    /// polled before.
    #[inline]
    pub(super) fn ask_again(&mut self, subflow: usize) {
        self.full.remove(subflow);
    }

    /// Whether what a full subflow would send is acknowledged already, up to `una`.
    #[inline]
    pub(super) fn are_overtaken(&self, una: u64) -> bool {
        una >= self.full_until
    }

    /// All subflows are to be polled again.
    #[inline]
    pub(super) fn ask_all_again(&mut self) {
        self.full = SubflowSet::NONE;
        self.full_until = u64::MAX;
    }

    /// Whether only its congestion window limits this subflow.
    #[inline]
    pub(super) fn is_cwnd_limited(&self, subflow: usize) -> bool {
        self.cwnd_limited.contains(subflow)
    }

    /// Only its congestion window limits this subflow.
    #[inline]
    pub(super) fn limit_by_cwnd(&mut self, subflow: usize) {
        self.cwnd_limited.insert(subflow);
    }

    /// The data or the peer's window limit all subflows without queued data.
    #[inline]
    pub(super) fn limit_by_data(&mut self) {
        self.cwnd_limited = self.cwnd_limited.and(self.filled);
    }
}
