//! What a subflow can carry, as far as it shows.

use ropewalk_quantities::Time;

use crate::SubflowState;

/// What is known of a subflow's rate, in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    estimate: f64,
    /// Mean deviation of samples from it, as a part of it.
    pub spread: f64,
    /// The newest sample.
    sample: f64,
}

impl Rate {
    /// Nothing was measured.
    pub(super) const UNKNOWN: Rate = Rate {
        estimate: 0.0,
        spread: 0.1,
        sample: 0.0,
    };
    /// Gain of the mean deviation.
    const GAIN: f64 = 0.125;
    /// Above so many times its least round-trip time a subflow has a queue, so that what it delivers is
    /// what it can.
    const BUSY: f64 = 1.2;

    /// A sample that is smaller counts only where the subflow was busy: else there was less to send.
    pub(super) fn learn(&mut self, state: &SubflowState) {
        let sample = state.delivery_rate;
        if sample <= 0.0 || sample == self.sample {
            return;
        }
        self.sample = sample;
        if self.estimate <= 0.0 {
            self.estimate = sample;
            return;
        }
        let busy = state.srtt.as_secs_f64() > Rate::BUSY * least_rtt(state);
        if sample > self.estimate || busy {
            let deviation = (sample - self.estimate).abs() / self.estimate;
            self.spread += Rate::GAIN * (deviation - self.spread);
            self.estimate = sample;
        }
    }

    /// The estimate; before the first sample what the subflow's window says.
    pub(super) fn or_guess(&self, state: &SubflowState) -> f64 {
        match self.estimate > 0.0 {
            true => self.estimate,
            false => state.rate_or_guess(),
        }
    }
}

/// Its least round-trip time in seconds; before the first sample nothing.
pub(super) fn least_rtt(state: &SubflowState) -> f64 {
    match state.min_rtt {
        Time::MAX => 0.0,
        least => least.as_secs_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, link};

    #[test]
    fn a_rate_falls_only_where_more_was_there_to_send() {
        let mut state = link(100, 20, 1.0);
        let mut rate = Rate::UNKNOWN;
        rate.learn(&state);
        state.delivery_rate = (40 * MSS) as f64;
        rate.learn(&state);
        assert_eq!(rate.estimate, (100 * MSS) as f64);
        state.srtt = Time::from_millis(30);
        state.delivery_rate = (50 * MSS) as f64;
        rate.learn(&state);
        assert_eq!(rate.estimate, (50 * MSS) as f64);
        assert!((rate.spread - (0.1 + 0.125 * 0.4)).abs() < 1e-12);
        state.srtt = Time::from_millis(20);
        state.delivery_rate = (200 * MSS) as f64;
        rate.learn(&state);
        assert_eq!(rate.estimate, (200 * MSS) as f64);
    }
}
