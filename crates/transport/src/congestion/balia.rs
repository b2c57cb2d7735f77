//! Balia (Peng et al., IEEE/ACM ToN 2016; draft-walid-mptcp-congestion-control-04). With x_r = w_r / rtt_r
//! and alpha_r = max(x_k) / x_r, a path slower than the fastest gains more per acknowledgement, and loses
//! more at a loss, up to three quarters.

use super::Settings;
use super::coupling::{
    Coupled, CoupledControl, CoupledPath, CouplingState, path, paths, paths_from,
};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Balanced linked adaptation: coupled increases, a compromise between LIA's friendliness and OLIA's
    /// responsiveness.
    pub struct BaliaConfig: "balia", "Peng et al., IEEE/ACM ToN 2016; draft-walid-mptcp-congestion-control-04", [Coupled] {
        /// Upper limit of alpha at a loss. alpha is the rate of the fastest path divided by this path's; a
        /// loss removes alpha / 2 of the window.
        alpha_max: number(1.0, 2.0) = 1.5, "draft-walid, section 3";
    }
}

impl BaliaConfig {
    /// Creates the algorithm of one connection.
    pub fn build(self, settings: &Settings) -> Balia {
        CoupledControl::new(self, settings)
    }
}

/// Balia on one connection.
pub type Balia = CoupledControl<BaliaConfig>;

impl Coupled for BaliaConfig {
    #[inline]
    fn increase(own: &CoupledPath<'_>, subflow: usize, subflows: &[SubflowState]) -> f64 {
        let (mut sum, mut fastest) = (0.0, 0.0);
        for path in paths_from(subflow, subflows) {
            let rate = path.window * path.per_rtt;
            sum += rate;
            fastest = f64::max(fastest, rate);
        }
        // Section 3, for each segment acknowledged:
        // x_r / rtt_r / (sum x_k)^2 * (1 + alpha_r) / 2 * (4 + alpha_r) / 5.
        let rate = own.window * own.per_rtt;
        let alpha = fastest / rate;
        let linked = rate * own.per_rtt / (sum * sum);
        own.state.mss as f64 * linked * (1.0 + alpha) * (4.0 + alpha) / 10.0
    }

    fn decrease(self, state: &mut CouplingState, subflow: usize, subflows: &[SubflowState]) -> u64 {
        let sender = &subflows[subflow];
        let own = match path(sender) {
            Some(own) if paths(subflows).count() > 1 => own,
            _ => return state.halve(subflow, sender, 2),
        };
        let fastest = paths(subflows)
            .map(|path| path.window * path.per_rtt)
            .fold(0.0, f64::max);
        let alpha = fastest / (own.window * own.per_rtt);
        // Section 3: w_r -= w_r / 2 * min(alpha_r, 1.5); at least one segment.
        let flight = state.flight_size(subflow, sender) as f64;
        ((flight * (1.0 - alpha.min(self.alpha_max) / 2.0)) as u64).max(sender.mss)
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Time;

    use super::*;
    use crate::congestion::testing::{BY_BYTES, MSS, acked, fluid, subflow};
    use crate::congestion::{Congestion, CongestionControl};

    #[test]
    fn increase_and_decrease_equal_manual_computation() {
        let mut control = BaliaConfig::default().build(&BY_BYTES);
        control.add_subflow(1);
        let table = [subflow(20.0, 0.1), subflow(5.0, 0.1)];
        // Rates 200 and 50, sum 250. Fast: alpha 1, 200 / .1 / 250^2 = .032.
        assert_eq!(control.on_ack(0, &acked(MSS), &table), 20 * MSS + 32);
        // Slow: alpha 4, 50 / .1 / 250^2 * 5 / 2 * 8 / 5 = .032.
        assert_eq!(control.on_ack(1, &acked(MSS), &table), 5 * MSS + 32);
        let cause = Congestion::FastRetransmit;
        assert_eq!(
            control.on_congestion(0, cause, Time::ZERO, &table),
            10 * MSS
        );
        assert_eq!(control.on_congestion(1, cause, Time::ZERO, &table), 1250);
    }

    #[test]
    fn one_path_is_newreno() {
        let mut control = BaliaConfig::default().build(&BY_BYTES);
        control.add_subflow(0);
        let table = [subflow(10.0, 0.1)];
        assert_eq!(control.on_ack(0, &acked(MSS), &table), 10 * MSS + 100);
        let cause = Congestion::Timeout;
        assert_eq!(control.on_congestion(0, cause, Time::ZERO, &table), 5 * MSS);
    }

    #[test]
    fn together_no_more_than_a_tcp_on_the_best_path() {
        let mut control = BaliaConfig::default().build(&BY_BYTES);
        let mean = fluid(&mut control, &[(0.1, 0.001), (0.1, 0.004)], 1000.0);
        let total = mean[0] + mean[1];
        assert!((total / 38.7 - 1.0).abs() < 0.2, "{mean:?}");
        assert!(mean[0] > 2.0 * mean[1], "{mean:?}");
    }
}
