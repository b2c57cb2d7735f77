//! Rate limiter of a carrier, or of a link of a tunnel.
//!
//! The generic cell rate algorithm (ITU-T I.371, Annex A): a token bucket whose whole state is one time.

use ropewalk_quantities::{Rate, Time};

/// Burst, as a time at the rate.
const BURST: Time = Time::from_millis(20);

#[derive(Clone, Copy, Debug)]
pub(crate) struct RateLimiter {
    rate: Rate,
    /// When everything sent so far would have left at the rate.
    until: Time,
}

impl RateLimiter {
    pub(crate) fn new(rate: Rate) -> RateLimiter {
        RateLimiter {
            rate,
            until: Time::ZERO,
        }
    }

    pub(crate) fn on_sent(&mut self, now: Time, bytes: u64) {
        let takes = bytes as f64 / self.bytes_per_second();
        let until = self.until.max(now);
        self.until = until.saturating_add(Time::from_secs_f64(takes));
    }

    pub(crate) fn allowed_at(&self) -> Time {
        self.until.saturating_sub(BURST)
    }

    pub(crate) fn bytes_per_second(&self) -> f64 {
        (self.rate.as_bps() as f64 / 8.0).max(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sent_bytes_follow_rate_plus_burst() {
        let mut throttle = RateLimiter::new(Rate::from_bps(800_000));
        let (mut sent, end) = (0, Time::from_secs(10));
        let mut now = Time::from_secs(1);
        while now < end {
            throttle.on_sent(now, 1000);
            sent += 1000;
            now = now.max(throttle.allowed_at());
        }
        // 100 kB a second, a burst of 20 ms, and a frame that has begun.
        assert!((900_000..=903_000).contains(&sent), "{sent}");
    }

    #[test]
    fn idle_time_gives_no_extra_credit() {
        let mut throttle = RateLimiter::new(Rate::from_bps(8000));
        throttle.on_sent(Time::from_secs(1), 1000);
        throttle.on_sent(Time::from_secs(100), 1000);
        assert_eq!(throttle.allowed_at(), Time::from_millis(100_980));
    }
}
