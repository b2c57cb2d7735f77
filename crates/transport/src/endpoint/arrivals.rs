//! Order of arrival on the data level.

/// Counters of data segments with new data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrivals {
    packets: u64,
    out_of_order: u64,
    waiting_max: u64,
}

impl Arrivals {
    /// Counts a segment if it brought new data.
    #[inline]
    pub(super) fn count(&mut self, is_new: bool) {
        self.packets += u64::from(is_new);
    }

    /// A segment arrived behind a gap. `waiting`: bytes that wait now.
    #[inline]
    pub(super) fn count_out_of_order(&mut self, waiting: u64) {
        self.out_of_order += 1;
        self.waiting_max = self.waiting_max.max(waiting);
    }

    /// Segments with new data, and those of them that arrived behind a gap.
    pub(super) fn packets(&self) -> (u64, u64) {
        (self.packets, self.out_of_order)
    }

    /// Most bytes that waited at once.
    pub(super) fn waiting_max(&self) -> u64 {
        self.waiting_max
    }

    /// Restarts that maximum.
    pub(super) fn restart_waiting_max(&mut self, waiting: u64) {
        self.waiting_max = waiting;
    }
}
