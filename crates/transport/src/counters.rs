use std::ops::AddAssign;

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
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.segments_sent += other.segments_sent;
        self.retransmissions += other.retransmissions;
        self.fast_recoveries += other.fast_recoveries;
        self.timeouts += other.timeouts;
        self.tail_loss_probes += other.tail_loss_probes;
        self.undone += other.undone;
    }
}
