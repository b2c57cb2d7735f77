//! Rate limit of one source of events, in 8 bytes: the generic cell rate algorithm (ITU-T I.371).

/// Events at a steady rate, with a burst.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Nanoseconds between events in the long run.
    pub interval: u64,
    /// Number of events that may occur at once.
    pub burst: u64,
}

/// State of one source: the time in nanoseconds at which its full burst is available.
#[derive(Clone, Copy, Debug, Default)]
pub struct Credit(u64);

impl Limit {
    #[must_use]
    pub const fn per_second(events: u64, burst: u64) -> Limit {
        Limit {
            interval: 1_000_000_000 / events,
            burst,
        }
    }
}

impl Credit {
    /// Takes the credit for an event at `now` (nanoseconds); returns false if there is none.
    #[must_use]
    pub fn take(&mut self, now: u64, limit: Limit) -> bool {
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
    fn a_limit_allows_its_burst_and_then_its_rate() {
        const SECOND: u64 = 1_000_000_000;
        let limit = Limit::per_second(10, 20);
        let mut credit = Credit::default();
        let mut take = |now, times: usize| (0..times).filter(|_| credit.take(now, limit)).count();
        assert_eq!(take(0, 100), 20);
        assert_eq!(take(SECOND / 10 - 1, 100), 0);
        assert_eq!(take(SECOND / 10, 100), 1);
        assert_eq!(take(SECOND, 100), 9);
        assert_eq!(take(60 * SECOND, 100), 20);
    }
}
