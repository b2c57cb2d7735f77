use ropewalk_quantities::{Bytes, Rate, Time};

use crate::link::queue::Backlog;

/// Transmitter at a constant rate of IP bits.
#[derive(Clone, Debug)]
pub(crate) struct RateTransmitter {
    rate: Rate,
    busy_until: Time,
    /// Last size and its transmission time: sizes repeat, and divisions are slow.
    last_size: u32,
    last_time: Time,
}

impl RateTransmitter {
    pub(crate) fn new(rate: Rate) -> RateTransmitter {
        RateTransmitter {
            rate,
            busy_until: Time::ZERO,
            last_size: 0,
            last_time: Time::ZERO,
        }
    }

    #[inline]
    pub(crate) fn start(&self, now: Time) -> Time {
        now.max(self.busy_until)
    }

    #[inline]
    pub(crate) fn send(&mut self, start: Time, size: u32) -> Time {
        if size != self.last_size {
            self.last_size = size;
            self.last_time = self.rate.transmission_time(Bytes::new(u64::from(size)));
        }
        self.busy_until = start.saturating_add(self.last_time);
        self.busy_until
    }

    pub(crate) fn reset(&mut self) {
        self.busy_until = Time::ZERO;
    }

    pub(crate) fn unsent(&self, now: Time, waiting: Backlog) -> Bytes {
        // Rounding up to a nanosecond never gives more unsent bytes than the packet has.
        let sent_at = waiting.next_start.unwrap_or(self.busy_until);
        let left = sent_at.saturating_sub(now + Time::from_nanos(1));
        let scaled_bits = u128::from(self.rate.as_bps()) * u128::from(left.as_nanos());
        let bytes = scaled_bits.div_ceil(8 * 1_000_000_000) as u64;
        Bytes::new(waiting.bytes.as_u64() + bytes)
    }

    pub(crate) fn capacity_between(&self, from: Time, to: Time) -> Bytes {
        self.rate.bytes_in(to.saturating_sub(from))
    }
}
