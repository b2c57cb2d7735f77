//! Interface of congestion control for a single path.

use super::{Acked, Congestion, SinglePath};
use crate::SubflowState;

/// A congestion-control algorithm for one path.
pub trait SinglePathControl {
    /// Returns the new cwnd after an acknowledgement, in bytes; see
    /// [`CongestionControl::on_ack`](super::CongestionControl::on_ack).
    #[must_use]
    fn on_ack(&mut self, acked: &Acked, state: &SubflowState) -> u64;

    /// Returns the new ssthresh after a loss, in bytes; see
    /// [`CongestionControl::on_congestion`](super::CongestionControl::on_congestion).
    #[must_use]
    fn on_congestion(&mut self, cause: Congestion, state: &SubflowState) -> u64;

    /// Saves the state before a loss; see [`CongestionControl::save`](super::CongestionControl::save).
    fn save(&mut self) {}

    /// Restores the saved state: the losses since [`save`](SinglePathControl::save) were spurious.
    fn restore(&mut self) {}
}

impl SinglePathControl for SinglePath {
    #[inline]
    fn on_ack(&mut self, acked: &Acked, state: &SubflowState) -> u64 {
        each_single_path!(self, algorithm => algorithm.on_ack(acked, state))
    }

    fn on_congestion(&mut self, cause: Congestion, state: &SubflowState) -> u64 {
        each_single_path!(self, algorithm => algorithm.on_congestion(cause, state))
    }

    fn save(&mut self) {
        each_single_path!(self, algorithm => algorithm.save());
    }

    fn restore(&mut self) {
        each_single_path!(self, algorithm => algorithm.restore());
    }
}
