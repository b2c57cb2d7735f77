//! Order of arrival on the data level.

/// Counters of data segments with new data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrivals {
    packets: u64,
    out_of_order: u64,
    behind_gap_max: u64,
}

impl Arrivals {
    /// Counts a segment if it brought new data.
    #[inline]
    pub(super) fn count(&mut self, is_new: bool) {
        self.packets += u64::from(is_new);
    }

    /// A segment arrived behind a gap. `behind_gap`: bytes that are behind one now.
    #[inline]
    pub(super) fn count_out_of_order(&mut self, behind_gap: u64) {
        self.out_of_order += 1;
        self.behind_gap_max = self.behind_gap_max.max(behind_gap);
    }

    /// Segments with new data, and those of them that arrived behind a gap.
    pub(super) fn packets(&self) -> (u64, u64) {
        (self.packets, self.out_of_order)
    }

    /// Most bytes that were ever behind a gap.
    pub(super) fn behind_gap_max(&self) -> u64 {
        self.behind_gap_max
    }

    /// Restarts that maximum.
    pub(super) fn restart_behind_gap_max(&mut self, behind_gap: u64) {
        self.behind_gap_max = behind_gap;
    }
}
