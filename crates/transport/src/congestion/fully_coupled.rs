//! Fully coupled: one window over all paths (Kelly and Voice, 2005; gomez-2014, equation 2). A loss on any
//! path removes half of the *total* window, so traffic concentrates on the best path, and flaps between equal
//! paths. The printed equation (2) lacks a symbol; the loss case is max(w_i - w / 2, 1).

use super::Settings;
use super::coupling::{Coupled, CoupledControl, CoupledPath, CouplingState, path, paths_from};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// One window over all paths: a loss on any path removes half of the total window from that path.
    pub struct FullyCoupledConfig: "fully-coupled", "Kelly and Voice 2005; gomez-2014, equation 2", [Coupled] {}
}

impl FullyCoupledConfig {
    /// Creates the algorithm of one connection.
    pub fn build(self, settings: &Settings) -> FullyCoupled {
        CoupledControl::new(self, settings)
    }
}

/// Fully coupled congestion control on one connection.
pub type FullyCoupled = CoupledControl<FullyCoupledConfig>;

impl Coupled for FullyCoupledConfig {
    #[inline]
    fn increase(own: &CoupledPath<'_>, subflow: usize, subflows: &[SubflowState]) -> f64 {
        // gomez-2014, equation (2): w_i += 1 / w, in segments for each segment.
        let total: f64 = paths_from(subflow, subflows).map(|path| path.window).sum();
        own.state.mss as f64 / total
    }

    fn decrease(self, state: &mut CouplingState, subflow: usize, subflows: &[SubflowState]) -> u64 {
        let sender = &subflows[subflow];
        let own = state.flight_size(subflow, sender);
        let others: f64 = (subflows.iter().enumerate())
            .filter(|(other, _)| *other != subflow)
            .filter_map(|(_, state)| path(state))
            .map(|path| path.window)
            .sum();
        // gomez-2014, equation (2), corrected: w_i = max(w_i - w / 2, 1).
        let half_of_all = (own + others as u64) / 2;
        own.saturating_sub(half_of_all).max(sender.mss)
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Time;

    use super::*;
    use crate::congestion::testing::{BY_BYTES, MSS, acked, fluid, subflow};
    use crate::congestion::{Congestion, CongestionControl};

    fn control() -> FullyCoupled {
        let mut control = FullyCoupledConfig::default().build(&BY_BYTES);
        control.add_subflow(1);
        control
    }

    #[test]
    fn grows_by_one_over_the_total() {
        let mut control = control();
        let table = [subflow(10.0, 0.1), subflow(30.0, 0.4)];
        assert_eq!(control.on_ack(0, &acked(MSS), &table), 10 * MSS + MSS / 40);
        assert_eq!(control.on_ack(1, &acked(MSS), &table), 30 * MSS + MSS / 40);
    }

    #[test]
    fn loss_halves_total_window() {
        let mut control = control();
        let table = [subflow(10.0, 0.1), subflow(30.0, 0.4)];
        let cause = Congestion::FastRetransmit;
        assert_eq!(
            control.on_congestion(1, cause, Time::ZERO, &table),
            10 * MSS
        );
        assert_eq!(control.on_congestion(0, cause, Time::ZERO, &table), MSS);
    }

    #[test]
    fn worse_path_keeps_minimum_window() {
        let mut control = FullyCoupledConfig::default().build(&BY_BYTES);
        let mean = fluid(&mut control, &[(0.1, 0.001), (0.1, 0.01)], 500.0);
        assert!(mean[1] < 3.0, "{mean:?}");
        // All paths together equal one TCP on the better path: sqrt(1.5 / p) = 38.7.
        assert!((mean[0] / 38.7 - 1.0).abs() < 0.15, "{mean:?}");
    }
}
