use std::ops::AddAssign;

use crate::congestion::Congestion;
use crate::reordering::{Evidence, ReorderingSign};

/// Counters of a subflow's sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Data segments retransmitted.
    pub retransmissions: u64,
    /// Times fast recovery was entered.
    pub fast_recoveries: u64,
    /// Times the retransmission timer expired.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
    /// Times losses were found to be spurious and their reductions were undone.
    pub undone: u64,
    /// Undone losses that a timeout had detected.
    pub undone_timeouts: u64,
    /// Undone losses, by [`Evidence`].
    pub undone_by: [u64; Evidence::COUNT],
    /// Observations of reordering, by [`ReorderingSign`], if the reordering policy looks for it.
    pub reordering_by: [u64; ReorderingSign::COUNT],
    /// Segments discarded for their old timestamps (PAWS, RFC 7323).
    pub discarded_as_old: u64,
    /// Largest duplicate-acknowledgement threshold; 0 if it never exceeded three.
    pub threshold_max: u32,
}

impl Counters {
    pub(crate) fn count_undone(&mut self, cause: Congestion, evidence: Evidence) {
        self.undone += 1;
        self.undone_timeouts += u64::from(cause == Congestion::Timeout);
        self.undone_by[evidence as usize] += 1;
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.segments_sent += other.segments_sent;
        self.retransmissions += other.retransmissions;
        self.fast_recoveries += other.fast_recoveries;
        self.timeouts += other.timeouts;
        self.tail_loss_probes += other.tail_loss_probes;
        self.undone += other.undone;
        self.undone_timeouts += other.undone_timeouts;
        for (own, more) in self.undone_by.iter_mut().zip(other.undone_by) {
            *own += more;
        }
        for (own, more) in self.reordering_by.iter_mut().zip(other.reordering_by) {
            *own += more;
        }
        self.discarded_as_old += other.discarded_as_old;
        self.threshold_max = self.threshold_max.max(other.threshold_max);
    }
}
