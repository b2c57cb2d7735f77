//! Random loss on a link.

use rand_pcg::Pcg64Mcg;

use crate::config::Loss;
use crate::uniform::uniform;

#[derive(Clone, Debug)]
pub(crate) struct LossModel {
    loss: Loss,
    state: GilbertState,
    stream: Pcg64Mcg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GilbertState {
    Good,
    Bad,
}

impl LossModel {
    /// Creates the model; Gilbert-Elliott starts in the good state.
    pub(crate) fn new(loss: Loss, stream: Pcg64Mcg) -> LossModel {
        LossModel {
            loss: match loss {
                Loss::Bernoulli(0.0) => Loss::None,
                other => other,
            },
            state: GilbertState::Good,
            stream,
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self.loss, Loss::None)
    }

    /// Draws whether the next packet is lost.
    ///
    /// Draws per packet: none without loss, one for Bernoulli, two for Gilbert-Elliott (transition and
    /// packet). The packet depends on the state *before* the transition, as in netem.
    #[inline]
    pub(crate) fn loses(&mut self) -> bool {
        match self.loss {
            Loss::None => false,
            Loss::Bernoulli(probability) => uniform(&mut self.stream) < probability,
            Loss::GilbertElliott { p, r, h, k } => {
                let (leave, delivered, other) = match self.state {
                    GilbertState::Good => (p, k, GilbertState::Bad),
                    GilbertState::Bad => (r, h, GilbertState::Good),
                };
                if uniform(&mut self.stream) < leave {
                    self.state = other;
                }
                uniform(&mut self.stream) >= delivered
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(loss: Loss) -> LossModel {
        LossModel::new(loss, Pcg64Mcg::new(42))
    }

    /// Fraction of lost packets and mean loss burst, over 10^6 packets.
    fn ratio_and_burst(loss: Loss) -> (f64, f64) {
        let mut model = model(loss);
        let (mut lost, mut bursts, mut before) = (0, 0, false);
        for _ in 0..1_000_000 {
            let this = model.loses();
            lost += u32::from(this);
            bursts += u32::from(this && !before);
            before = this;
        }
        (f64::from(lost) / 1e6, f64::from(lost) / f64::from(bursts))
    }

    #[track_caller]
    fn assert_near(value: f64, expected: f64) {
        assert!((value / expected - 1.0).abs() < 0.02, "{value} {expected}");
    }

    #[test]
    fn bernoulli_loss_matches_ratio_and_burst() {
        let (ratio, burst) = ratio_and_burst(Loss::Bernoulli(0.02));
        assert_near(ratio, 0.02);
        assert_near(burst, 1.0 / 0.98);
    }

    /// Gilbert's model loses all in the bad state: p / (p + r) of the packets, in bursts of 1 / r.
    #[test]
    fn gilbert_loses_in_bursts_of_one_over_r() {
        let (p, r) = (0.01, 0.25);
        let (h, k) = (0.0, 1.0);
        let (ratio, burst) = ratio_and_burst(Loss::GilbertElliott { p, r, h, k });
        assert_near(ratio, p / (p + r));
        assert_near(burst, 1.0 / r);
    }

    /// Loss is pi_bad (1 - h) + pi_good (1 - k). A burst ends with the next delivered packet.
    #[test]
    fn gilbert_elliott_loses_in_both_states() {
        let (p, r, h, k) = (0.05, 0.3, 0.4, 0.99);
        let (ratio, burst) = ratio_and_burst(Loss::GilbertElliott { p, r, h, k });
        let (bad, good) = (p / (p + r), r / (p + r));
        let expected = bad * (1.0 - h) + good * (1.0 - k);
        assert_near(ratio, expected);
        let after_bad = (1.0 - r) * (1.0 - h) + r * (1.0 - k);
        let after_good = (1.0 - p) * (1.0 - k) + p * (1.0 - h);
        let both = bad * (1.0 - h) * after_bad + good * (1.0 - k) * after_good;
        assert_near(burst, expected / (expected - both));
    }

    /// Pinned, since draws are part of the results.
    #[test]
    fn draws_do_not_shift() {
        let lost = |loss| -> Vec<u32> {
            let mut model = model(loss);
            (0..40).filter(|_| model.loses()).collect()
        };
        assert_eq!(lost(Loss::Bernoulli(0.2)), [9, 14, 22, 23, 26, 31, 37]);
        let (p, r, h, k) = (0.1, 0.4, 0.2, 0.9);
        let losses = [8, 12, 13, 28, 30, 31, 32, 33];
        assert_eq!(lost(Loss::GilbertElliott { p, r, h, k }), losses);
    }

    #[test]
    fn loss_models_draw_a_fixed_count_per_packet() {
        let draws = |loss| {
            let mut model = model(loss);
            for _ in 0..100 {
                model.loses();
            }
            let mut stream = Pcg64Mcg::new(42);
            (0..).find(|_| {
                let here = stream == model.stream;
                uniform(&mut stream);
                here
            })
        };
        let (p, r, h, k) = (0.3, 0.4, 0.2, 0.9);
        assert_eq!(draws(Loss::None), Some(0));
        assert_eq!(draws(Loss::Bernoulli(0.0)), Some(0));
        assert_eq!(draws(Loss::Bernoulli(0.5)), Some(100));
        assert_eq!(draws(Loss::GilbertElliott { p, r, h, k }), Some(200));
    }
}
