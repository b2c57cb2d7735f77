//! OLIA, opportunistic linked increases (Khalili et al., CoNEXT 2012;
//! draft-khalili-mptcp-congestion-control-05).
//!
//! LIA's increase with the window itself as the weight, plus a term alpha_r that moves window from the
//! largest paths to the best others. A path's quality is the number of bytes delivered between losses.
//! Windows that differ by less than a segment count as equal.

use super::Settings;
use super::coupling::{
    Coupled, CoupledControl, CoupledPath, CouplingState, growing, paths, paths_from,
};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Opportunistic linked increases: LIA's increase, and a term that moves window from the largest paths to
    /// the best ones.
    pub struct OliaConfig: "olia", "Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05", [Coupled] {}
}

impl OliaConfig {
    /// Creates the algorithm of one connection.
    pub fn build(self, settings: &Settings) -> Olia {
        CoupledControl::new(self, settings)
    }
}

/// OLIA on one connection.
pub type Olia = CoupledControl<OliaConfig>;

/// Terms over all paths; windows in bytes, times in nanoseconds.
struct Sums {
    all: u32,
    /// sum(w_p / rtt_p)
    rate: f64,
    /// max(w_p)
    largest: f64,
    /// max(l_p / rtt_p^2)
    best: f64,
}

impl Sums {
    #[inline]
    fn of(subflow: usize, subflows: &[SubflowState]) -> Sums {
        let mut sums = Sums {
            all: 0,
            rate: 0.0,
            largest: 0.0,
            best: 0.0,
        };
        for path in paths_from(subflow, subflows) {
            sums.all += 1;
            sums.rate += path.window * path.per_rtt;
            sums.largest = sums.largest.max(path.window);
            sums.best = sums.best.max(quality(&path));
        }
        sums
    }

    /// Whether the path is in M, the paths with the largest window.
    #[inline]
    fn is_largest(&self, path: &CoupledPath<'_>) -> bool {
        path.window + path.state.mss as f64 > self.largest
    }

    /// Whether the path is in B, the presumably best paths.
    #[inline]
    fn is_best(&self, path: &CoupledPath<'_>) -> bool {
        quality(path) == self.best
    }

    #[inline]
    fn alpha(&self, own: &CoupledPath<'_>, subflow: usize, subflows: &[SubflowState]) -> f64 {
        let (mut max_windows, mut collected) = (0, 0);
        for path in paths_from(subflow, subflows) {
            if self.is_largest(&path) {
                max_windows += 1;
            } else if self.is_best(&path) {
                collected += 1;
            }
        }
        if collected == 0 {
            0.0
        } else if self.is_largest(own) {
            -1.0 / f64::from(self.all * max_windows)
        } else if self.is_best(own) {
            1.0 / f64::from(self.all * collected)
        } else {
            0.0
        }
    }
}

/// l_r / rtt_r^2 with l_r = max(l1_r, l2_r): bytes since the last loss, and between the last two.
#[inline]
fn quality(path: &CoupledPath<'_>) -> f64 {
    let l = (path.state.acked_since_loss).max(path.state.acked_between_losses);
    l as f64 * path.per_rtt * path.per_rtt
}

/// alpha_r of the draft, section 3, dimensionless: 1 / (|all| |B \ M|) for a best path that is not among the
/// largest, -1 / (|all| |M|) for a largest path if there are such best ones, otherwise 0. Also 0 for a
/// subflow outside the coupling.
pub fn alpha(subflow: usize, subflows: &[SubflowState]) -> f64 {
    growing(&subflows[subflow]).map_or(0.0, |own| {
        Sums::of(subflow, subflows).alpha(&own, subflow, subflows)
    })
}

impl Coupled for OliaConfig {
    #[inline]
    fn increase(own: &CoupledPath<'_>, subflow: usize, subflows: &[SubflowState]) -> f64 {
        // Section 3, for each byte acknowledged:
        // MSS_r (w_r / rtt_r^2 / (sum w_p / rtt_p)^2 + alpha_r / w_r).
        let sums = Sums::of(subflow, subflows);
        let linked = own.window * own.per_rtt * own.per_rtt / (sums.rate * sums.rate);
        own.state.mss as f64 * (linked + sums.alpha(own, subflow, subflows) / own.window)
    }

    fn decrease(self, state: &mut CouplingState, subflow: usize, subflows: &[SubflowState]) -> u64 {
        // Section 3: as TCP, but with a minimum of one segment if there are several paths, so that slow start
        // does not load a congested path.
        let least = if paths(subflows).count() > 1 { 1 } else { 2 };
        state.halve(subflow, &subflows[subflow], least)
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Time;

    use super::*;
    use crate::congestion::testing::{BY_BYTES, MSS, acked, fluid, subflow};
    use crate::congestion::{Congestion, CongestionControl};

    fn control(subflows: usize) -> Olia {
        let mut control = OliaConfig::default().build(&BY_BYTES);
        control.add_subflow(subflows - 1);
        control
    }

    #[test]
    fn alpha_moves_window_to_the_best_path() {
        let mut table = [subflow(20.0, 0.1), subflow(5.0, 0.1), subflow(5.0, 0.1)];
        table[1].acked_since_loss = 900 * MSS;
        table[0].acked_between_losses = 300 * MSS;
        let third = 1.0 / 3.0;
        assert_eq!(alpha(0, &table), -third);
        assert_eq!(alpha(1, &table), third);
        assert_eq!(alpha(2, &table), 0.0);
        table[0].acked_between_losses = 1000 * MSS;
        assert_eq!([0, 1, 2].map(|i| alpha(i, &table)), [0.0; 3]);
        table[1].acked_since_loss = 1000 * MSS;
        table[2].acked_since_loss = 2000 * MSS;
        table[1].acked_between_losses = 2000 * MSS;
        assert_eq!(alpha(1, &table), 1.0 / 6.0);
        assert_eq!(alpha(2, &table), 1.0 / 6.0);
    }

    #[test]
    fn increase_equals_manual_computation() {
        let mut control = control(2);
        // Path 0 is best and largest: only the first term. (20/.1^2) / (20/.1 + 5/.2)^2 = 0.039506.
        let mut table = [subflow(20.0, 0.1), subflow(5.0, 0.2)];
        table[0].acked_since_loss = 100 * MSS;
        assert_eq!(control.on_ack(0, &acked(MSS), &table), 20 * MSS + 39);
        // Path 1 is best: 0.039506 - 1 / 2 / 20 = 0.014506 and (5/.2^2) / 225^2 + 1 / 2 / 5 = 0.102469.
        table[1].acked_since_loss = 4000 * MSS;
        let mut control = super::tests::control(2);
        assert_eq!(control.on_ack(0, &acked(MSS), &table), 20 * MSS + 14);
        assert_eq!(control.on_ack(1, &acked(MSS), &table), 5 * MSS + 102);
    }

    #[test]
    fn the_largest_window_may_shrink() {
        let mut control = control(3);
        // 3 paths, M = {0}: w_0 / sum^2 = 4 / 100 less 1 / 3 / 4: shrinks by 43.3 of 1000 bytes.
        let mut table = [subflow(4.0, 0.1), subflow(3.0, 0.1), subflow(3.0, 0.1)];
        table[1].acked_since_loss = 100 * MSS;
        assert_eq!(control.on_ack(0, &acked(MSS), &table), 4 * MSS - 44);
    }

    #[test]
    fn single_path_equals_newreno_and_several_may_fall_to_one_segment() {
        let mut control = control(2);
        let mut table = vec![subflow(10.0, 0.1)];
        assert_eq!(control.on_ack(0, &acked(MSS), &table), 10 * MSS + 100);
        table[0].cwnd = 2 * MSS;
        table[0].in_flight = 2 * MSS;
        let cause = Congestion::FastRetransmit;
        assert_eq!(control.on_congestion(0, cause, Time::ZERO, &table), 2 * MSS);
        table.push(subflow(10.0, 0.1));
        assert_eq!(control.on_congestion(0, cause, Time::ZERO, &table), MSS);
    }

    #[test]
    fn fully_coupled_shares_equal_paths_and_leaves_worse_ones() {
        let mut olia = OliaConfig::default().build(&BY_BYTES);
        let mean = fluid(&mut olia, &[(0.1, 0.005), (0.1, 0.005)], 1000.0);
        let share = mean[0] / (mean[0] + mean[1]);
        assert!((share - 0.5).abs() < 0.1, "{mean:?}");
        let mut olia = OliaConfig::default().build(&BY_BYTES);
        let mean = fluid(&mut olia, &[(0.1, 0.001), (0.1, 0.02)], 1000.0);
        let share = mean[0] / (mean[0] + mean[1]);
        assert!(share > 0.9, "{mean:?}");
    }
}
