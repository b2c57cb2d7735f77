use std::ops::AddAssign;

use crate::congestion::Congestion;
use crate::reordering::{Evidence, Sighting};

/// What a subflow's sender counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Data segments sent, again or for the first time.
    pub segments_sent: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Times that fast recovery was entered.
    pub fast_recoveries: u64,
    /// Times that the retransmission timer ran out.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub tail_loss_probes: u64,
    /// Times that losses were found to have been none, and what followed from them was undone.
    pub undone: u64,
    /// Of these, those that had been found by a timeout.
    pub undone_timeouts: u64,
    /// Of these, by what told it; see [`Evidence`].
    pub undone_by: [u64; Evidence::COUNT],
    /// Times that segments were seen to have overtaken each other, by an answer that looks for it; see
    /// [`Sighting`].
    pub seen_by: [u64; Sighting::COUNT],
    /// Segments thrown away since their timestamps were older than what had come (PAWS, RFC 7323).
    pub discarded_as_old: u64,
    /// Most duplicate acknowledgements that were waited for; 0 if they were never more than three.
    pub threshold_max: u32,
}

impl Counters {
    /// Losses were none.
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
        for (own, more) in self.seen_by.iter_mut().zip(other.seen_by) {
            *own += more;
        }
        self.discarded_as_old += other.discarded_as_old;
        self.threshold_max = self.threshold_max.max(other.threshold_max);
    }
}
