//! Rate limit of one source of events, in 8 bytes: the generic cell rate algorithm (ITU-T I.371).

/// Events at a steady rate, with a burst.
#[derive(Clone, Copy, Debug)]
pub struct RateLimit {
    /// Nanoseconds between events in the long run.
    pub interval: u64,
    /// Number of events that may occur at once.
    pub burst: u64,
}

/// State of one source: the time in nanoseconds at which its full burst is available.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimiter(u64);

/// Limit of ICMP messages, as in Linux (icmp_msgs_per_sec and icmp_msgs_burst, the kernel's
/// Documentation/networking/ip-sysctl.rst). The burst includes the message that starts it.
pub const ICMP: RateLimit = RateLimit::per_second(1000, 51);

impl RateLimit {
    #[must_use]
    pub const fn per_second(events: u64, burst: u64) -> RateLimit {
        RateLimit {
            interval: 1_000_000_000 / events,
            burst,
        }
    }
}

impl RateLimiter {
    /// Returns whether an event at `now` (nanoseconds) is within the limit, and counts it if so.
    #[must_use]
    pub fn take(&mut self, now: u64, limit: RateLimit) -> bool {
        let full = self.0.max(now);
        let is_allowed = full - now <= limit.interval * (limit.burst - 1);
        if is_allowed {
            self.0 = full + limit.interval;
        }
        is_allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn take_allows_the_burst_and_then_the_rate() {
        const SECOND: u64 = 1_000_000_000;
        let limit = RateLimit::per_second(10, 20);
        let mut limiter = RateLimiter::default();
        let mut take = |now, times: usize| (0..times).filter(|_| limiter.take(now, limit)).count();
        assert_eq!(take(0, 100), 20);
        assert_eq!(take(SECOND / 10 - 1, 100), 0);
        assert_eq!(take(SECOND / 10, 100), 1);
        assert_eq!(take(SECOND, 100), 9);
        assert_eq!(take(60 * SECOND, 100), 20);
    }
}
