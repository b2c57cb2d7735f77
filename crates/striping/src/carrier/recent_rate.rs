//! Recent delivery rate of a carrier whose link has slowed down.
//!
//! The rate estimate is the largest sample of ten rounds (BtlBw,
//! draft-cardwell-iccrg-bbr-congestion-control-02, section 4.1). A round lasts as long as its standing queue:
//! if the rate of a link falls to a tenth, ten rounds last as long as a hundred did before. The in-flight cap
//! may follow that slow estimate, since the link may recover, but the expected arrival of a frame must follow
//! recent deliveries. So if frames are acknowledged late, the bytes delivered meanwhile limit the rate, until
//! more is delivered. A fall to more than half is ignored: jitter and bursts of a link cause as much.

use ropewalk_quantities::Time;

/// Least span of a measurement: at least two service bursts of a link that serves in bursts.
const MIN_SPAN: Time = Time::from_millis(200);
/// The limit applies if it is less than this fraction of the rate.
const FALL: f64 = 0.5;
/// A limit that was reached rises by this factor, as the rate itself may in a round.
const RISE: f64 = 1.25;

#[derive(Clone, Copy, Debug)]
pub(crate) struct RecentRate {
    began: Time,
    /// Bytes delivered in total when the span began.
    delivered: u64,
    /// A frame was acknowledged late in the span.
    late: bool,
    /// The carrier was application-limited for a part of the span.
    app_limited: bool,
    /// Bytes per second; `None` as long as frames arrive in time.
    bound: Option<f64>,
}

impl RecentRate {
    pub(crate) fn new(now: Time, delivered: u64) -> RecentRate {
        RecentRate {
            began: now,
            delivered,
            late: false,
            app_limited: false,
            bound: None,
        }
    }

    pub(crate) fn on_app_limited(&mut self) {
        self.app_limited = true;
    }

    /// Processes an acknowledgement, with `delivered` bytes in total. `late`: the newest frame was late.
    /// Returns whether a span has ended that shows the recent rate.
    pub(crate) fn on_acknowledged(
        &mut self,
        now: Time,
        delivered: u64,
        is_late: bool,
        min_rtt: Time,
    ) -> bool {
        self.late |= is_late;
        let takes = now.saturating_sub(self.began);
        let span = MIN_SPAN.max(min_rtt);
        if takes < span {
            return false;
        }
        let (takes, span) = (takes.as_secs_f64(), span.as_secs_f64());
        let rate = (delivered - self.delivered) as f64 / takes;
        let has_slowed = self.late && !self.app_limited;
        let bound = match self.bound {
            _ if has_slowed => Some(rate),
            // The limit relaxes with time, since a carrier that gets little because of it could not refute
            // it.
            Some(bound) if self.app_limited => Some(bound * RISE.powf(takes / span)),
            Some(bound) => Some(bound.max(RISE * rate)),
            None => None,
        };
        *self = RecentRate {
            bound,
            ..RecentRate::new(now, delivered)
        };
        has_slowed
    }

    /// Limits a rate in bytes per second to the recent one.
    pub(crate) fn at_most(&self, rate: f64) -> f64 {
        let fallen = self.bound.filter(|_| self.has_fallen_from(rate));
        fallen.unwrap_or(rate)
    }

    pub(crate) fn has_fallen_from(&self, rate: f64) -> bool {
        self.bound.is_some_and(|bound| bound < FALL * rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    /// The rate after spans of 200 ms, from 1 MB/s. A span: bytes delivered, whether late, whether
    /// application-limited.
    fn left_after(spans: &[(u64, bool, bool)]) -> f64 {
        let mut present = RecentRate::new(MS(0), 0);
        let mut delivered = 0;
        for (number, (bytes, late, app_limited)) in spans.iter().enumerate() {
            if *app_limited {
                present.on_app_limited();
            }
            delivered += bytes;
            let at = MS(200 * (number as u64 + 1));
            let has_slowed = present.on_acknowledged(at, delivered, *late, MS(20));
            assert_eq!(has_slowed, *late && !app_limited);
        }
        present.at_most(1e6)
    }

    #[test]
    fn late_deliveries_limit_the_rate() {
        let slowed = (20_000, true, false);
        let steady = (20_000, false, false);
        assert_eq!(left_after(&[steady]), 1e6);
        assert_eq!(left_after(&[slowed]), 1e5);
        assert_eq!(left_after(&[slowed, steady, steady, steady]), 1.25e5);
        assert_eq!(left_after(&[slowed, (60_000, false, false)]), 3.75e5);
        assert_eq!(left_after(&[(120_000, true, false)]), 1e6);
        assert_eq!(left_after(&[slowed, (90_000, false, false)]), 1e6);
    }

    #[test]
    fn app_limited_spans_relax_the_limit() {
        let idle = (1000, true, true);
        assert_eq!(left_after(&[idle]), 1e6);
        assert_eq!(left_after(&[(20_000, true, false), idle, idle]), 1.5625e5);
    }

    #[test]
    fn a_span_is_a_round_trip_at_least() {
        let mut present = RecentRate::new(MS(0), 0);
        assert!(!present.on_acknowledged(MS(250), 1000, true, MS(300)));
        assert_eq!(present.at_most(1e6), 1e6);
        assert!(present.on_acknowledged(MS(300), 3000, false, MS(300)));
        assert_eq!(present.at_most(1e6), 1e4);
    }

    #[test]
    fn long_idle_time_resets_the_span() {
        let mut present = RecentRate::new(MS(0), 0);
        present.on_acknowledged(MS(200), 10_000, true, MS(20));
        assert_eq!(present.at_most(1e6), 5e4);
        present.on_app_limited();
        present.on_acknowledged(MS(5000), 11_000, false, MS(20));
        assert_eq!(present.at_most(1e6), 1e6);
    }
}
