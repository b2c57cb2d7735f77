//! Congestion window validation, as in Linux (`tcp_cwnd_validate`).

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUsage {
    /// Maximum in flight; `u64::MAX` if the window was full once.
    max_in_flight: u64,
    /// `max_in_flight` applies until this offset is acknowledged.
    until: u64,
}

impl WindowUsage {
    /// Records a transmission: data in flight up to `nxt`, and whether another segment has no space.
    #[inline]
    pub(crate) fn on_sent(&mut self, una: u64, nxt: u64, is_limited: bool) {
        let out = match is_limited {
            true => u64::MAX,
            false => nxt - una,
        };
        if una >= self.until || is_limited || out > self.max_in_flight {
            *self = WindowUsage {
                max_in_flight: out,
                until: nxt,
            };
        }
    }

    /// Whether the window may grow: in slow start, to twice the data in flight (`tcp_is_cwnd_limited`).
    #[inline]
    pub(crate) fn allows_growth(&self, cwnd: u64, in_slow_start: bool) -> bool {
        self.max_in_flight == u64::MAX || in_slow_start && cwnd < 2 * self.max_in_flight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_window_counts_until_its_data_are_acknowledged() {
        let mut usage = WindowUsage::default();
        usage.on_sent(0, 10, true);
        // Less in flight later, in the same window of data.
        usage.on_sent(8, 12, false);
        assert!(usage.allows_growth(100, false));
        usage.on_sent(10, 13, false);
        assert!(!usage.allows_growth(100, false));
    }

    #[test]
    fn slow_start_is_limited_to_twice_the_flight() {
        let mut usage = WindowUsage::default();
        usage.on_sent(0, 10, false);
        usage.on_sent(6, 12, false);
        assert!(usage.allows_growth(19, true));
        assert!(!usage.allows_growth(20, true));
        assert!(!usage.allows_growth(19, false));
        usage.on_sent(11, 13, false);
        assert!(!usage.allows_growth(4, true));
    }
}
