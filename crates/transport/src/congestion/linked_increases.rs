//! Linked increases as printed in gomez-2014 (equation 3): w_i grows by alpha / w_i, where RFC 6356 (`lia`)
//! has min(alpha / w, 1 / w_i). So each subflow gains alpha segments per round trip for any share of the
//! total, and alpha may exceed one if round-trip times differ. alpha is equation (5), with the sum over all
//! subflows in the denominator.

use super::Settings;
use super::coupling::{Coupled, CoupledControl, CoupledPath, paths_from};
use super::lia::Sums;
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// LIA as printed in gomez-2014: without the cap that keeps a subflow from being more aggressive than a
    /// single TCP.
    pub struct LinkedIncreasesConfig: "linked-increases", "gomez-2014, equation 3", [Coupled] {}
}

impl LinkedIncreasesConfig {
    /// Creates the algorithm of one connection.
    pub fn build(self, settings: &Settings) -> LinkedIncreases {
        CoupledControl::new(self, settings)
    }
}

/// Linked increases on one connection.
pub type LinkedIncreases = CoupledControl<LinkedIncreasesConfig>;

impl Coupled for LinkedIncreasesConfig {
    #[inline]
    fn increase(own: &CoupledPath<'_>, subflow: usize, subflows: &[SubflowState]) -> f64 {
        // gomez-2014, equation (3): w_i += alpha / w_i.
        let sums = Sums::of(paths_from(subflow, subflows));
        sums.total * sums.alpha_over_total() * own.state.mss as f64 / own.window
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Time;

    use super::*;
    use crate::congestion::testing::{BY_BYTES, MSS, acked, subflow};
    use crate::congestion::{Congestion, CongestionControl};

    #[test]
    fn grows_by_alpha_over_its_own_window() {
        let mut control = LinkedIncreasesConfig::default().build(&BY_BYTES);
        control.add_subflow(1);
        // alpha is 1.28 (reference values of RFC 6356): more than NewReno's 100 bytes.
        let table = [subflow(10.0, 0.1), subflow(10.0, 0.4)];
        assert_eq!(control.on_ack(0, &acked(MSS), &table), 10 * MSS + 128);
        assert_eq!(control.on_ack(1, &acked(MSS), &table), 10 * MSS + 128);
        let cause = Congestion::FastRetransmit;
        assert_eq!(control.on_congestion(0, cause, Time::ZERO, &table), 5 * MSS);
    }
}
