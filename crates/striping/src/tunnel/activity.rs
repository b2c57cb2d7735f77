//! Whether so much passes through the tunnel that feedback is answered by feedback, too.
//!
//! Packets and pings are always answered. What else is sent, feedback above all, is only while packets take more than
//! that costs: then each end knows every link, either way, as well as the other. Both ends see the same
//! packets, one of them by a delay later than the other, so that each knows what its peer answers.

use ropewalk_quantities::Time;

/// Packets of fewer bytes a second do not keep the tunnel busy. Feedback about one link takes 20 kB a second each way.
const LEAST_RATE: u64 = 128 * 1024;
/// After the last packet the tunnel is busy for this time at the most.
const LASTS: Time = Time::from_secs(2);
/// What is sent counts on an answer only if the tunnel is busy for this time yet: the peer has seen packets earlier or later,
/// and may have seen fewer.
const MARGIN: Time = Time::from_secs(1);

/// What has passed through the tunnel lately, in either direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Activity {
    /// The tunnel is busy until then.
    until: Time,
}

impl Activity {
    /// A link is new, or on a new path: it is to be measured.
    pub(super) fn begin(&mut self, now: Time) {
        self.until = now + LASTS;
    }

    /// A packet of `bytes` bytes passes.
    pub(super) fn on_packet(&mut self, now: Time, bytes: u32) {
        let adds = Time::from_nanos(u64::from(bytes) * 1_000_000_000 / LEAST_RATE);
        self.until = (self.until.max(now) + adds).min(now + LASTS);
    }

    /// Whether everything is answered.
    pub(super) fn is_busy(&self, now: Time) -> bool {
        now <= self.until
    }

    /// Whether the peer surely answers everything, too.
    pub(super) fn is_surely_busy(&self, now: Time) -> bool {
        now + MARGIN <= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn little_does_not_keep_the_tunnel_busy_and_much_does_for_two_seconds() {
        let ms = Time::from_millis;
        let mut activity = Activity::default();
        // Twenty thousand bytes a second.
        for number in 1..500 {
            activity.on_packet(ms(number * 10), 200);
            assert!(!activity.is_busy(ms(number * 10 + 2)), "{number}");
        }
        for number in 500..1000 {
            activity.on_packet(ms(number * 10), 1400);
        }
        assert!(activity.is_busy(ms(10_000)) && !activity.is_surely_busy(ms(10_000)));
        for number in 1000..10_000 {
            activity.on_packet(ms(number * 10), 1400);
        }
        let last = ms(99_990);
        assert!(activity.is_surely_busy(last + ms(1000)));
        assert!(!activity.is_surely_busy(last + ms(1001)));
        assert!(activity.is_busy(last + ms(2000)) && !activity.is_busy(last + ms(2001)));
    }
}
