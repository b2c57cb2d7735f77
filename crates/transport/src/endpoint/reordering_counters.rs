//! Counters of the order in which data arrive at connection level.

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ReorderingCounters {
    packets: u64,
    out_of_order: u64,
    pub(super) behind_gap_max: u64,
}

impl ReorderingCounters {
    #[inline]
    pub(super) fn count(&mut self, is_new: bool) {
        self.packets += u64::from(is_new);
    }

    /// Counts a segment that arrived behind a gap. `behind_gap`: bytes behind a gap now.
    #[inline]
    pub(super) fn count_out_of_order(&mut self, behind_gap: u64) {
        self.out_of_order += 1;
        self.behind_gap_max = self.behind_gap_max.max(behind_gap);
    }

    pub(super) fn packets(&self) -> (u64, u64) {
        (self.packets, self.out_of_order)
    }
}
