//! Congestion control for a single path, which may run on each subflow separately.

use super::{Acked, Congestion, SinglePath};
use crate::SubflowState;

/// A congestion-control algorithm for one path.
pub trait SinglePathControl {
    /// New cwnd after an acknowledgement, in bytes; as
    /// [`CongestionControl::on_ack`](super::CongestionControl::on_ack).
    #[must_use]
    fn on_ack(&mut self, acked: &Acked, state: &SubflowState) -> u64;

    /// New ssthresh after a loss, in bytes; as
    /// [`CongestionControl::on_congestion`](super::CongestionControl::on_congestion).
    #[must_use]
    fn on_congestion(&mut self, cause: Congestion, state: &SubflowState) -> u64;

    /// Saves the state before a loss; as [`CongestionControl::save`](super::CongestionControl::save).
    fn save(&mut self) {}

    /// The losses since [`save`](SinglePathControl::save) were spurious.
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
