//! Estimated rate of a subflow for schedulers.

use ropewalk_quantities::Time;

use crate::SubflowState;

/// State of the estimate, in bytes per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    estimate: f64,
    /// The subflow's own latest sample, which covers a round trip.
    sample: f64,
    busy: Option<Time>,
    /// Start of the present sample, and the bytes acknowledged by then.
    since: Option<(Time, u64)>,
}

impl Rate {
    pub(super) const UNKNOWN: Rate = Rate {
        estimate: 0.0,
        sample: 0.0,
        busy: None,
        since: None,
    };
    const GAIN: f64 = 0.5;
    /// A subflow whose RTT exceeds the minimum by this factor has a queue, so it delivers at capacity.
    const BUSY: f64 = 1.2;
    /// Shortest duration of a sample, and the number of segments that it must cover.
    const SPAN: f64 = 0.02;
    const SEGMENTS: f64 = 4.0;

    /// Updates the estimate from the subflow's state. The subflow delivers at capacity while more is in
    /// flight than fills its minimum RTT, or while its RTT is longer; otherwise it is application-limited,
    /// and only a higher rate counts. Data sent now are acknowledged a round trip later.
    pub(super) fn learn(&mut self, now: Time, state: &SubflowState) {
        let sample = state.delivery_rate;
        if sample != self.sample {
            self.estimate = self.estimate.max(sample);
        }
        self.sample = sample;
        let most = self.estimate.max(sample);
        let fills = state.in_flight as f64 >= most * least_rtt(state);
        let busy = fills || state.latest_rtt.as_secs_f64() > Rate::BUSY * least_rtt(state);
        if self.estimate <= 0.0 || state.in_flight == 0 || state.in_recovery || !busy {
            (self.busy, self.since) = (None, None);
            return;
        }
        let busy = *self.busy.get_or_insert(now);
        if now.saturating_sub(busy).as_secs_f64() < least_rtt(state) {
            return;
        }
        let (since, acknowledged) = *self.since.get_or_insert((now, state.acknowledged));
        let span = now.saturating_sub(since).as_secs_f64();
        let needed = Rate::SEGMENTS * state.mss as f64 / self.estimate;
        if span >= needed.clamp(Rate::SPAN, 1.0) {
            let bytes = state.acknowledged.saturating_sub(acknowledged);
            self.estimate += Rate::GAIN * (bytes as f64 / span - self.estimate);
            self.estimate = self.estimate.max(state.mss as f64);
            self.since = Some((now, state.acknowledged));
        }
    }

    /// The estimate; before the first sample, window over round trip.
    pub(super) fn or_guess(&self, state: &SubflowState) -> f64 {
        match self.estimate > 0.0 {
            true => self.estimate,
            false => state.rate_or_guess(),
        }
    }
}

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
    fn rate_falls_only_at_capacity() {
        let mut state = link(100, 20, 1.0);
        state.in_flight = MSS;
        let mut rate = Rate::UNKNOWN;
        let segments = |count: u64| (count * MSS) as f64;
        rate.learn(Time::ZERO, &state);
        assert_eq!(rate.estimate, segments(100));
        // One of the two segments that fill the round trip is in flight, and the RTT is minimal.
        state.delivery_rate = segments(40);
        rate.learn(Time::from_millis(500), &state);
        rate.learn(Time::from_secs(1), &state);
        assert_eq!(rate.estimate, segments(100));
        // Two are in flight, though less than the subflow's own rate; the effect is measured a round trip
        // later: 50 per second, half of the difference.
        state.in_flight = 2 * MSS;
        rate.learn(Time::from_millis(1980), &state);
        rate.learn(Time::from_secs(2), &state);
        state.acknowledged += 50 * MSS;
        rate.learn(Time::from_secs(3), &state);
        assert_eq!(rate.estimate, segments(75));
        // 4 segments take 53 ms: no sample is shorter.
        state.acknowledged += MSS;
        rate.learn(Time::from_millis(3050), &state);
        assert_eq!(rate.estimate, segments(75));
        state.delivery_rate = segments(200);
        rate.learn(Time::from_millis(3051), &state);
        assert_eq!(rate.estimate, segments(200));
    }

    #[test]
    fn stalled_subflow_has_low_rate() {
        let mut state = link(100, 20, 1.0);
        state.in_flight = 10 * MSS;
        let mut rate = Rate::UNKNOWN;
        for millis in 0..10_000 {
            rate.learn(Time::from_millis(millis), &state);
            state.delivery_rate = 0.0;
        }
        assert_eq!(rate.estimate, MSS as f64);
    }
}
