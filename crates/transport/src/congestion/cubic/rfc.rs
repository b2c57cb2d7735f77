//! Congestion avoidance as in RFC 9438, section 4, with windows that are real numbers of segments.

use super::super::real::{greater, lesser, real, whole};
use super::{Epoch, GrowthInputs, seconds};

#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    alpha: f64,
    /// Growth that does not amount to a byte yet, in bytes.
    fraction: f64,
    /// cwnd when ssthresh was last set, in segments.
    pub(super) cwnd_prior: f64,
    w_est: f64,
}

impl Growth {
    pub(super) fn new(alpha: f64) -> Growth {
        Growth {
            alpha,
            fraction: 0.0,
            cwnd_prior: 0.0,
            w_est: 0.0,
        }
    }

    pub(super) fn forget(&mut self) {
        self.fraction = 0.0;
    }

    /// Returns the window after `bytes` were acknowledged; `counted` of them count for the cubic growth.
    #[inline]
    pub(super) fn grow(
        &mut self,
        cwnd: u64,
        bytes: u64,
        counted: u64,
        inputs: GrowthInputs<'_>,
    ) -> u64 {
        // Only two divisions, which dominate the cost.
        let mss = real(inputs.mss);
        let per_mss = 1.0 / mss;
        let window = (real(cwnd) + self.fraction) * per_mss;
        let per_window = 1.0 / window;
        let segments = real(bytes) * per_mss;
        let GrowthInputs { now, c, .. } = inputs;
        let epoch = match inputs.epoch {
            Some(epoch) => epoch,
            none => {
                self.w_est = window;
                none.insert(Epoch::new(now, window, inputs.w_max, c))
            }
        };

        // Figure 4: W_est += alpha * segments_acked / cwnd, with alpha = 1 from cwnd_prior on.
        let alpha = if self.w_est < self.cwnd_prior {
            self.alpha
        } else {
            1.0
        };
        self.w_est += alpha * segments * per_window;

        let t = seconds(now.saturating_sub(epoch.start));
        // Section 4.3, the Reno-friendly region: cwnd = W_est, but growing no faster than slow start, in case
        // the sender has cut cwnd (after idling, or as a penalty).
        let friendly = self.w_est.clamp(window, window + segments);
        let counted = real(counted) * per_mss;
        // Sections 4.2, 4.4 and 4.5: (target - cwnd) / cwnd for each segment acknowledged.
        let towards =
            |target: f64| lesser(window + (target - window) * per_window * counted, target);
        let next = if epoch.w_cubic(t, c) < self.w_est {
            friendly
        } else {
            towards(
                epoch
                    .w_cubic(t + seconds(inputs.srtt), c)
                    .clamp(window, 1.5 * window),
            )
        };
        let exact = greater(next * mss, real(cwnd));
        let cwnd = whole(exact);
        self.fraction = exact - real(cwnd);
        cwnd
    }
}
