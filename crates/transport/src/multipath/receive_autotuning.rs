//! Autotuning of an MPTCP connection's receive buffer, as in Linux (`mptcp_rcv_space_adjust`).

use ropewalk_quantities::Time;

/// Initial buffer of a connection (tcp_rmem's second value).
pub(crate) const FIRST_BUFFER: u64 = 131_072;

/// Autotuner of the buffer by the amount read per round trip; the buffer never shrinks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReceiveAutotuning {
    /// Largest amount read in a round trip so far.
    space: u64,
    since: Time,
    read_before: u64,
    round_trip: Time,
}

impl ReceiveAutotuning {
    /// Begins with an initial window of segments of this length.
    pub(crate) fn new(segment: u64) -> ReceiveAutotuning {
        ReceiveAutotuning {
            space: 10 * segment.max(1),
            since: Time::ZERO,
            read_before: 0,
            round_trip: Time::ZERO,
        }
    }

    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        now.saturating_sub(self.since) >= self.round_trip
    }

    /// Measures after `read` bytes in total; `round_trip` is the longest of the subflows'. Returns the window
    /// to allow at least, once per round trip (`mptcp_rcvbuf_grow`).
    pub(crate) fn measure(&mut self, now: Time, read: u64, round_trip: Time) -> Option<u64> {
        self.round_trip = round_trip;
        if round_trip == Time::ZERO || !self.is_due(now) {
            return None;
        }
        let copied = read - self.read_before;
        self.since = now;
        self.read_before = read;
        if copied <= self.space {
            return None;
        }
        // Twice, since this is a round trip late, and more while the sender is in slow start.
        let window = 2 * copied;
        let growth = u128::from(window) * u128::from(copied - self.space) / u128::from(self.space);
        self.space = copied;
        Some(window.saturating_add(u64::try_from(2 * growth).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_follows_bytes_read_per_round_trip() {
        let ms = Time::from_millis;
        let mut tuning = ReceiveAutotuning::new(1000);
        assert_eq!(tuning.measure(ms(50), 8000, ms(100)), None);
        assert_eq!(tuning.measure(ms(100), 9000, ms(100)), None);
        // Twice 15,000, and half as much again, twice, for slow start.
        assert_eq!(tuning.measure(ms(150), 16_000, ms(100)), None);
        assert_eq!(tuning.measure(ms(200), 24_000, ms(100)), Some(60_000));
        assert_eq!(tuning.measure(ms(300), 39_000, ms(100)), None);
    }
}
