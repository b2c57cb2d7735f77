//! Rate control of a radio for one neighbour.

use super::config::{RadioConfig, RateControl};
use super::frame_error::FrameError;
use super::standard::DataRate;

/// Consecutive successes before ARF tries a faster rate, and the initial number of AARF.
const SUCCESSES: u32 = 10;
/// Maximum number of AARF.
const MAX_SUCCESSES: u32 = 50;
/// Consecutive failures before a slower rate.
const FAILURES: u32 = 2;
/// Bits of the frame for which the ideal rate is chosen: 1500 bytes of IP.
const IDEAL_BITS: f64 = 8.0 * 1536.0;
const IDEAL_LOSS: f64 = 0.01;

#[derive(Clone, Debug)]
pub(super) struct RateSelector {
    rates: &'static [DataRate],
    at: usize,
    /// Adaptation to the fate of frames, if any.
    adapts: Option<Adapts>,
    successes: u32,
    failures: u32,
    /// Successes required for an increase.
    required: u32,
    /// Whether the next frame is the first at a faster rate.
    probing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adapts {
    Arf,
    Aarf,
}

impl RateSelector {
    /// Creates the selector of a radio for a neighbour with this mean SNR.
    pub(super) fn new(config: &RadioConfig, snr_db: f64, frame_error: &FrameError) -> RateSelector {
        let rates = config.standard.adaptive_rates();
        let (rates, at, adapts) = match config.rate {
            RateControl::Fixed(rate) => (&DataRate::ALL[..], rate as usize, None),
            RateControl::Arf => (rates, rates.len() - 1, Some(Adapts::Arf)),
            RateControl::Aarf => (rates, rates.len() - 1, Some(Adapts::Aarf)),
            RateControl::Ideal => (rates, ideal(rates, snr_db, frame_error), None),
        };
        RateSelector {
            rates,
            at,
            adapts,
            successes: 0,
            failures: 0,
            required: SUCCESSES,
            probing: false,
        }
    }

    #[inline]
    pub(super) fn rate(&self) -> DataRate {
        self.rates[self.at]
    }

    #[inline]
    pub(super) fn succeeded(&mut self) {
        if self.adapts.is_none() {
            return;
        }
        self.failures = 0;
        self.successes += 1;
        self.probing = false;
        if self.successes >= self.required && self.at + 1 < self.rates.len() {
            self.at += 1;
            self.successes = 0;
            self.probing = true;
        }
    }

    #[inline]
    pub(super) fn failed(&mut self) {
        let Some(adapts) = self.adapts else {
            return;
        };
        self.successes = 0;
        self.failures += 1;
        if !self.probing && self.failures < FAILURES {
            return;
        }
        self.required = match adapts {
            Adapts::Aarf if self.probing => (2 * self.required).min(MAX_SUCCESSES),
            _ => SUCCESSES,
        };
        self.at = self.at.saturating_sub(1);
        self.failures = 0;
        self.probing = false;
    }
}

/// Returns the fastest rate with an acceptable error ratio, or the slowest.
fn ideal(rates: &[DataRate], snr_db: f64, frame_error: &FrameError) -> usize {
    let fit = |rate: &DataRate| frame_error.ratio(*rate, snr_db, IDEAL_BITS) <= IDEAL_LOSS;
    rates.iter().rposition(fit).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::config::ErrorModel;
    use crate::radio::tests::radio;

    fn selector(rate: RateControl, snr_db: f64) -> RateSelector {
        let frame_error = FrameError::new(&ErrorModel::Nist);
        let config = RadioConfig {
            rate,
            ..radio("S", [0.0; 3])
        };
        RateSelector::new(&config, snr_db, &frame_error)
    }

    fn succeed(selector: &mut RateSelector, times: u32) {
        for _ in 0..times {
            selector.succeeded();
        }
    }

    #[test]
    fn arf_falls_after_two_failures_and_climbs_after_ten_successes() {
        let mut arf = selector(RateControl::Arf, 0.0);
        assert_eq!(arf.rate(), DataRate::Cck11);
        arf.failed();
        arf.succeeded();
        arf.failed();
        assert_eq!(arf.rate(), DataRate::Cck11);
        arf.failed();
        assert_eq!(arf.rate(), DataRate::Cck5_5);
        succeed(&mut arf, 9);
        assert_eq!(arf.rate(), DataRate::Cck5_5);
        arf.succeeded();
        assert_eq!(arf.rate(), DataRate::Cck11);
        // The first frame at a faster rate fails, and one failure suffices.
        arf.failed();
        assert_eq!(arf.rate(), DataRate::Cck5_5);
        succeed(&mut arf, 10);
        assert_eq!(arf.rate(), DataRate::Cck11);
        for _ in 0..20 {
            arf.failed();
        }
        assert_eq!(arf.rate(), DataRate::Dsss1);
    }

    #[test]
    fn aarf_doubles_successes_after_a_failed_increase() {
        let mut aarf = selector(RateControl::Aarf, 0.0);
        aarf.failed();
        aarf.failed();
        for required in [10, 20, 40, 50, 50] {
            assert_eq!(aarf.rate(), DataRate::Cck5_5);
            succeed(&mut aarf, required - 1);
            assert_eq!(aarf.rate(), DataRate::Cck5_5);
            aarf.succeeded();
            assert_eq!(aarf.rate(), DataRate::Cck11);
            aarf.failed();
        }
        // A decrease for another reason resets the requirement.
        aarf.failed();
        aarf.failed();
        assert_eq!(aarf.rate(), DataRate::Dsss2);
        succeed(&mut aarf, 10);
        assert_eq!(aarf.rate(), DataRate::Cck5_5);
    }

    #[test]
    fn the_ideal_rate_is_the_fastest_that_the_snr_allows() {
        for (snr_db, rate) in [
            (-10.0, DataRate::Dsss1),
            (0.0, DataRate::Dsss1),
            (40.0, DataRate::Cck11),
        ] {
            let mut ideal = selector(RateControl::Ideal, snr_db);
            assert_eq!(ideal.rate(), rate, "{snr_db} dB");
            ideal.failed();
            ideal.failed();
            assert_eq!(ideal.rate(), rate, "{snr_db} dB");
        }
        let fixed = selector(RateControl::Fixed(DataRate::Dsss2), 40.0);
        assert_eq!(fixed.rate(), DataRate::Dsss2);
    }
}
