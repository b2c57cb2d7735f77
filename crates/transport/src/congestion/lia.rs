//! LIA, the linked-increases algorithm (RFC 6356; gomez-2014's "RTT compensator", equations 4 and 5).

use super::Settings;
use super::coupling::{Coupled, CoupledControl, CoupledPath, paths, paths_from};
use super::real::{greater, lesser, real};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Linked increases: all subflows together have the throughput of one TCP on the best path, and no
    /// subflow is more aggressive than a single TCP.
    pub struct LiaConfig: "lia", "RFC 6356; gomez-2014's RTT compensator, equations 4 and 5", [Coupled] {}
}

impl LiaConfig {
    /// Creates the algorithm of one connection.
    pub fn build(self, settings: &Settings) -> Lia {
        CoupledControl::new(self, settings)
    }
}

/// LIA on one connection.
pub type Lia = CoupledControl<LiaConfig>;

/// Aggressiveness of the connection, dimensionless; NaN if no subflow takes part. RFC 6356, equation (2):
/// alpha = cwnd_total * max(cwnd_i / rtt_i^2) / (sum(cwnd_i / rtt_i))^2.
pub fn alpha(subflows: &[SubflowState]) -> f64 {
    let sums = Sums::of(paths(subflows));
    sums.total * sums.alpha_over_total()
}

/// Terms of alpha; windows in bytes, times in nanoseconds.
pub(super) struct Sums {
    /// cwnd_total
    pub(super) total: f64,
    /// max(cwnd_i / rtt_i^2)
    best: f64,
    /// sum(cwnd_i / rtt_i)
    rate: f64,
}

impl Sums {
    #[inline]
    pub(super) fn of<'a>(paths: impl Iterator<Item = CoupledPath<'a>>) -> Sums {
        let mut sums = Sums {
            total: 0.0,
            best: 0.0,
            rate: 0.0,
        };
        for path in paths {
            let rate = path.window * path.per_rtt;
            sums.total += path.window;
            sums.best = greater(sums.best, rate * path.per_rtt);
            sums.rate += rate;
        }
        sums
    }

    #[inline]
    pub(super) fn alpha_over_total(&self) -> f64 {
        self.best / (self.rate * self.rate)
    }
}

impl Coupled for LiaConfig {
    #[inline]
    fn increase(own: &CoupledPath<'_>, subflow: usize, subflows: &[SubflowState]) -> f64 {
        // RFC 6356, equation (1), for each byte acknowledged:
        // min(alpha * MSS_i / cwnd_total, MSS_i / cwnd_i).
        let linked = Sums::of(paths_from(subflow, subflows)).alpha_over_total();
        real(own.state.mss) * lesser(linked, 1.0 / own.window)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ropewalk_quantities::Time;

    use super::*;
    use crate::congestion::CongestionControl;
    use crate::congestion::testing::{BY_BYTES, MSS, acked, fluid, subflow};

    #[test]
    fn alpha_equals_rfc_reference_values() {
        let cases: [(&[(f64, f64)], f64); 5] = [
            (&[(10.0, 0.1), (10.0, 0.1)], 0.5),
            (&[(10.0, 0.1), (20.0, 0.1)], 0.666667),
            (&[(10.0, 0.1), (10.0, 0.4)], 1.28),
            (&[(20.0, 0.05), (5.0, 0.2)], 1.107266),
            (&[(10.0, 0.1), (10.0, 0.1), (10.0, 0.1)], 1.0 / 3.0),
        ];
        for (paths, expected) in cases {
            let table: Vec<_> = paths.iter().map(|(w, rtt)| subflow(*w, *rtt)).collect();
            let alpha = alpha(&table);
            assert!((alpha - expected).abs() < 1e-6, "{paths:?}: {alpha}");
        }
    }

    #[test]
    fn only_usable_and_timed_subflows_take_part() {
        let mut table = [subflow(10.0, 0.1), subflow(10.0, 0.1), subflow(10.0, 0.1)];
        table[1].usable = false;
        table[2].srtt = Time::ZERO;
        assert!((alpha(&table) - 1.0).abs() < 1e-12);
        let mut table = [subflow(10.0, 0.1), subflow(40.0, 0.1)];
        table[1].in_recovery = true;
        table[1].ssthresh = 20 * MSS;
        assert!((alpha(&table) - 0.666667).abs() < 1e-6);
    }

    #[test]
    fn windows_settle_near_80_to_20_at_losses_of_1_and_4_percent() {
        let mut control = LiaConfig::default().build(&BY_BYTES);
        let mean = fluid(&mut control, &[(0.1, 0.01), (0.1, 0.04)], 2000.0);
        let share = mean[0] / (mean[0] + mean[1]);
        assert!((share - 0.8).abs() < 0.05, "{mean:?}: {share}");
        // All paths together equal one TCP on the better path: sqrt(1.5 / p) = 12.2 segments.
        let total = mean[0] + mean[1];
        assert!((total / 12.2 - 1.0).abs() < 0.15, "{mean:?}");
    }

    proptest! {
        #[test]
        fn no_subflow_and_no_connection_exceeds_tcp(
            paths_in in prop::collection::vec((1.0..1000.0, 0.001..1.0), 1..6)
        ) {
            let table: Vec<_> = paths_in.iter().map(|(w, rtt)| subflow(*w, *rtt)).collect();
            let linked = Sums::of(paths(&table)).alpha_over_total();
            // Growth of the total rate in a second, divided by 1 / rtt^2 of a TCP on the shortest path: max(w
            // / r^2) <= max(1 / r) sum(w / r), so at most 1 for each path.
            let mut growth = 0.0;
            let mut best: f64 = 0.0;
            for path in paths(&table) {
                let increase = linked.min(1.0 / path.window);
                prop_assert!(increase > 0.0 && increase * path.window <= 1.0 + 1e-12);
                growth += increase * path.window * path.per_rtt * path.per_rtt;
                best = best.max(path.per_rtt * path.per_rtt);
            }
            prop_assert!(growth <= best * table.len() as f64 * (1.0 + 1e-9));
            // With equal round-trip times the total gains at most one segment per round trip.
            let equal: Vec<_> = paths_in.iter().map(|(w, _)| subflow(*w, 0.1)).collect();
            let linked = Sums::of(paths(&equal)).alpha_over_total();
            let gain: f64 = paths(&equal)
                .map(|path| linked.min(1.0 / path.window) * path.window)
                .sum();
            prop_assert!(gain <= 1.0 + 1e-9, "{gain}");
        }
    }

    #[test]
    fn a_single_subflow_grows_as_newreno_does() {
        let mut control = LiaConfig::default().build(&BY_BYTES);
        control.add_subflow(0);
        let mut table = [subflow(10.0, 0.1)];
        for _ in 0..10 {
            table[0].cwnd = control.on_ack(0, &acked(MSS), &table);
        }
        // Sum of 1 / w over ten acknowledgements of a window slightly above ten.
        assert!(
            table[0].cwnd.abs_diff(10 * MSS + 960) < 10,
            "{}",
            table[0].cwnd
        );
    }
}
