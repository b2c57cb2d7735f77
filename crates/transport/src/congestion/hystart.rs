//! HyStart: ends slow start before it overflows the queue (Ha and Rhee, 2011), as in Linux's CUBIC; not
//! HyStart++ (RFC 9406). Slow start ends when an ACK train lasts longer than half of the minimum RTT (the
//! window fills the path). It also ends when a round's minimum RTT exceeds the overall one by an eighth,
//! within bounds.

use ropewalk_quantities::Time;

use super::Acked;
use crate::SubflowState;

const LOW_WINDOW: u64 = 16;
const MIN_SAMPLES: u32 = 8;
const ACK_SPACING: Time = Time::from_millis(2);
const ACK_DELAY: Time = Time::from_millis(1);
/// Bounds of the rise in RTT.
const MIN_RISE: Time = Time::from_millis(4);
const GREATEST_RISE: Time = Time::from_millis(16);

/// The state of one slow start.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    /// The round ends when this stream offset is acknowledged.
    round_end: u64,
    round_start: Time,
    train_end: Time,
    round_rtt: Time,
    samples: u32,
    found: bool,
}

impl Default for HyStart {
    fn default() -> HyStart {
        HyStart {
            round_end: 0,
            round_start: Time::ZERO,
            train_end: Time::ZERO,
            round_rtt: Time::MAX,
            samples: 0,
            found: false,
        }
    }
}

impl HyStart {
    /// Returns whether slow start ends with this acknowledgement; true only once.
    #[must_use]
    pub fn on_ack(&mut self, acked: &Acked, state: &SubflowState) -> bool {
        let Some(rtt) = acked.rtt else {
            return false;
        };
        if self.found {
            return false;
        }
        if acked.snd_una > self.round_end {
            *self = HyStart {
                round_end: acked.snd_nxt,
                round_start: acked.now,
                train_end: acked.now,
                ..HyStart::default()
            };
        }
        if state.cwnd < LOW_WINDOW * state.mss {
            return false;
        }
        let min_rtt = state.min_rtt.min(rtt);
        self.found = self.long_train(acked.now, min_rtt) || self.late_round(rtt, min_rtt);
        self.found
    }

    fn long_train(&mut self, now: Time, min_rtt: Time) -> bool {
        if now.saturating_sub(self.train_end) > ACK_SPACING {
            return false;
        }
        self.train_end = now;
        now.saturating_sub(self.round_start) > min_rtt.saturating_add(ACK_DELAY) / 2
    }

    fn late_round(&mut self, rtt: Time, min_rtt: Time) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let rise = (min_rtt / 8).clamp(MIN_RISE, GREATEST_RISE);
        self.round_rtt > min_rtt.saturating_add(rise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::testing::{MSS, subflow};

    fn ack(at_ms: f64, rtt_ms: f64) -> Acked {
        Acked {
            now: Time::from_secs_f64(at_ms / 1e3),
            bytes: MSS,
            rtt: Some(Time::from_secs_f64(rtt_ms / 1e3)),
            snd_una: MSS,
            snd_nxt: 1000 * MSS,
            cwnd_limited: true,
        }
    }

    #[test]
    fn a_rise_of_an_eighth_after_eight_samples_ends_slow_start() {
        let mut state = subflow(100.0, 0.08);
        state.min_rtt = Time::from_millis(80);
        // An eighth of 80 ms is 10 ms; acknowledgements 3 ms apart form no train.
        let mut hystart = HyStart::default();
        let risen: Vec<bool> = (0..9)
            .map(|i| hystart.on_ack(&ack(100.0 + 3.0 * i as f64, 90.5), &state))
            .collect();
        assert_eq!(risen, [vec![false; 8], vec![true]].concat());
        let mut hystart = HyStart::default();
        assert!(!(0..40).any(|i| hystart.on_ack(&ack(100.0 + 3.0 * i as f64, 89.5), &state)));
    }

    #[test]
    fn a_train_longer_than_half_the_round_trip_ends_slow_start() {
        let mut state = subflow(100.0, 0.08);
        state.min_rtt = Time::from_millis(80);
        let mut hystart = HyStart::default();
        // (80 + 1) / 2 = 40.5 ms after the round's start at 100 ms.
        let end = (0..100).find(|i| hystart.on_ack(&ack(100.0 + *i as f64, 80.0), &state));
        assert_eq!(end, Some(41));
    }

    #[test]
    fn small_windows_are_left_alone() {
        let mut state = subflow(15.0, 0.08);
        state.min_rtt = Time::from_millis(80);
        let mut hystart = HyStart::default();
        assert!(!(0..100).any(|i| hystart.on_ack(&ack(100.0 + i as f64, 120.0), &state)));
    }
}
