//! What a carrier brings now, where its link has slowed down.
//!
//! The rate is the largest sample of ten rounds (BtlBw, draft-cardwell-iccrg-bbr-congestion-control-02, section
//! 4.1), and a round takes as long as the queue that stands in it: where a link falls to a tenth, ten rounds
//! are as long as a hundred were. So much may be in flight for as long, since the link may come back. But when
//! a frame will be there is told by what came lately. Frames that come after their time say that the link has
//! slowed down; what they brought meanwhile bounds the rate, until more is brought. Less than a fall to half is
//! left to the largest sample: jitter and bursts of a link make as much.

use ropewalk_quantities::Time;

/// The least time over which that is measured: at least two turns of a link that serves in bursts.
const LEAST_SPAN: Time = Time::from_millis(200);
/// What is brought now tells more than the rate if it is less than this part of it.
const FALL: f64 = 0.5;
/// A bound that held rises by this factor, as fast as the rate itself may.
const RISE: f64 = 1.25;

/// What was brought in the span under way, and what the spans before it say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PresentRate {
    began: Time,
    /// Bytes delivered when it began.
    delivered: u64,
    /// A frame of it came late.
    late: bool,
    /// There was nothing to send for a while.
    dry: bool,
    /// Bytes per second; `None` as long as all came in time.
    bound: Option<f64>,
}

impl PresentRate {
    /// Nothing is known but how many bytes are delivered by now.
    pub(crate) fn new(now: Time, delivered: u64) -> PresentRate {
        PresentRate {
            began: now,
            delivered,
            late: false,
            dry: false,
            bound: None,
        }
    }

    /// There was nothing to send, with room for it: what is brought says nothing of what could be.
    pub(crate) fn on_dry(&mut self) {
        self.dry = true;
    }

    /// So much is delivered in all, the newest of it late or not, over a carrier of this least round trip.
    /// Says whether a span has ended that shows what the link brings now.
    pub(crate) fn on_acknowledged(
        &mut self,
        now: Time,
        delivered: u64,
        is_late: bool,
        min_rtt: Time,
    ) -> bool {
        self.late |= is_late;
        let takes = now.saturating_sub(self.began);
        let span = LEAST_SPAN.max(min_rtt);
        if takes < span {
            return false;
        }
        let (takes, span) = (takes.as_secs_f64(), span.as_secs_f64());
        let rate = (delivered - self.delivered) as f64 / takes;
        let has_slowed = self.late && !self.dry;
        let bound = match self.bound {
            _ if has_slowed => Some(rate),
            // It fades with time: one that is given little because of it could not refute it.
            Some(bound) if self.dry => Some(bound * RISE.powf(takes / span)),
            Some(bound) => Some(bound.max(RISE * rate)),
            None => None,
        };
        *self = PresentRate {
            bound,
            ..PresentRate::new(now, delivered)
        };
        has_slowed
    }

    /// Of so many bytes per second, those that it brings now.
    pub(crate) fn at_most(&self, rate: f64) -> f64 {
        let fallen = self.bound.filter(|_| self.has_fallen_from(rate));
        fallen.unwrap_or(rate)
    }

    /// Whether it brings much less than so many bytes per second.
    pub(crate) fn has_fallen_from(&self, rate: f64) -> bool {
        self.bound.is_some_and(|bound| bound < FALL * rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// Of a megabyte per second, what is left after spans of 200 ms: each brings so many bytes, late or not,
    /// with enough to send or not.
    fn left_after(spans: &[(u64, bool, bool)]) -> f64 {
        let mut present = PresentRate::new(MS(0), 0);
        let mut delivered = 0;
        for (number, (bytes, late, dry)) in spans.iter().enumerate() {
            if *dry {
                present.on_dry();
            }
            delivered += bytes;
            let at = MS(200 * (number as u64 + 1));
            let has_slowed = present.on_acknowledged(at, delivered, *late, MS(20));
            assert_eq!(has_slowed, *late && !dry);
        }
        present.at_most(1e6)
    }

    #[test]
    fn what_comes_late_bounds_the_rate_until_more_comes() {
        let slowed = (20_000, true, false);
        let steady = (20_000, false, false);
        assert_eq!(left_after(&[steady]), 1e6);
        assert_eq!(left_after(&[slowed]), 1e5);
        assert_eq!(left_after(&[slowed, steady, steady, steady]), 1.25e5);
        assert_eq!(left_after(&[slowed, (60_000, false, false)]), 3.75e5);
        // Not a fall to half.
        assert_eq!(left_after(&[(120_000, true, false)]), 1e6);
        assert_eq!(left_after(&[slowed, (90_000, false, false)]), 1e6);
    }

    #[test]
    fn without_work_nothing_is_learnt_and_what_was_fades() {
        let idle = (1000, true, true);
        assert_eq!(left_after(&[idle]), 1e6);
        assert_eq!(left_after(&[(20_000, true, false), idle, idle]), 1.5625e5);
    }

    #[test]
    fn a_span_is_a_round_trip_at_least() {
        let mut present = PresentRate::new(MS(0), 0);
        assert!(!present.on_acknowledged(MS(250), 1000, true, MS(300)));
        assert_eq!(present.at_most(1e6), 1e6);
        assert!(present.on_acknowledged(MS(300), 3000, false, MS(300)));
        assert_eq!(present.at_most(1e6), 1e4);
    }

    #[test]
    fn what_was_learnt_before_a_long_idle_time_is_forgotten() {
        let mut present = PresentRate::new(MS(0), 0);
        present.on_acknowledged(MS(200), 10_000, true, MS(20));
        assert_eq!(present.at_most(1e6), 5e4);
        present.on_dry();
        present.on_acknowledged(MS(5000), 11_000, false, MS(20));
        assert_eq!(present.at_most(1e6), 1e6);
    }
}
