//! The retransmission timeout of ns-3's `RttMeanDeviation`.

use ropewalk_quantities::Time;

const GAIN: f64 = 0.1;
const MIN_S: f64 = 0.2;
/// Mean before the first sample, which comes from data: the module does not measure the handshake.
const INITIAL_MEAN_S: f64 = 1.5;
/// ns-3's `RttEstimator::MaxMultiplier`.
const MAX_BACKOFF: f64 = 64.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Timeout {
    /// Mean and deviation, in seconds; `None` before the first sample.
    estimate: Option<(f64, f64)>,
    backoff: f64,
}

impl Timeout {
    pub(super) fn new() -> Timeout {
        Timeout {
            estimate: None,
            backoff: 1.0,
        }
    }

    /// Adds a sample; the first one is its own deviation.
    pub(super) fn sample(&mut self, rtt: Time) {
        let rtt = rtt.as_secs_f64();
        self.estimate = Some(match self.estimate {
            None => (rtt, rtt),
            Some((mean, deviation)) => {
                let error = rtt - mean;
                let deviation = deviation + GAIN * (error.abs() - deviation);
                (mean + GAIN * error, deviation)
            }
        });
    }

    pub(super) fn back_off(&mut self) {
        self.backoff = (2.0 * self.backoff).min(MAX_BACKOFF);
    }

    pub(super) fn reset_backoff(&mut self) {
        self.backoff = 1.0;
    }

    /// The mean, in seconds; `None` for links without delay.
    pub(super) fn srtt_s(&self) -> Option<f64> {
        let mean = self.estimate.map_or(INITIAL_MEAN_S, |(mean, _)| mean);
        (mean > 0.0).then_some(mean)
    }

    pub(super) fn mean_and_deviation(&self) -> [Time; 2] {
        let (mean, deviation) = self.estimate.unwrap_or_default();
        [mean, deviation].map(Time::from_secs_f64)
    }

    pub(super) fn duration(&self) -> Time {
        let base = match self.estimate {
            None => 2.0 * INITIAL_MEAN_S,
            Some((mean, deviation)) if deviation < mean / 4.0 => 2.0 * mean,
            Some((mean, deviation)) => mean + 4.0 * deviation,
        };
        Time::from_secs_f64((base * self.backoff).max(MIN_S))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_falls_from_5_to_2_means_at_constant_rtt() {
        let mut timeout = Timeout::new();
        assert_eq!(timeout.duration(), Time::from_secs(3));
        timeout.sample(Time::from_millis(300));
        assert_eq!(timeout.duration(), Time::from_millis(1500));
        for _ in 0..100 {
            timeout.sample(Time::from_millis(300));
        }
        assert_eq!(timeout.duration(), Time::from_millis(600));
        timeout.back_off();
        timeout.back_off();
        assert_eq!(timeout.duration(), Time::from_millis(2400));
        timeout.reset_backoff();
        assert_eq!(timeout.duration(), Time::from_millis(600));
    }

    #[test]
    fn timeout_has_200_ms_minimum_and_64_fold_backoff() {
        let mut timeout = Timeout::new();
        timeout.sample(Time::from_millis(10));
        assert_eq!(timeout.duration(), Time::from_millis(200));
        // Five times the sample, doubled until above 200 ms.
        timeout.back_off();
        timeout.back_off();
        assert_eq!(timeout.duration(), Time::from_millis(200));
        for _ in 0..20 {
            timeout.back_off();
        }
        assert_eq!(timeout.duration(), Time::from_millis(3_200));
    }
}
