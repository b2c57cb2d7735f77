//! Dispatches the calls of a connection's congestion control.

use ropewalk_quantities::Time;

use super::{Acked, Congestion, CongestionControl, Controller};
use crate::SubflowState;

impl CongestionControl for Controller {
    fn add_subflow(&mut self, subflow: usize) {
        each_controller!(self, algorithm => algorithm.add_subflow(subflow));
    }

    #[inline(always)]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64 {
        each_controller!(self, algorithm => algorithm.on_ack(subflow, acked, subflows))
    }

    fn on_congestion(
        &mut self,
        subflow: usize,
        cause: Congestion,
        now: Time,
        subflows: &[SubflowState],
    ) -> u64 {
        each_controller!(self, algorithm => algorithm.on_congestion(subflow, cause, now, subflows))
    }

    fn save(&mut self, subflow: usize) {
        each_controller!(self, algorithm => algorithm.save(subflow));
    }

    fn restore(&mut self, subflow: usize) {
        each_controller!(self, algorithm => algorithm.restore(subflow));
    }
}

#[cfg(test)]
mod tests;
