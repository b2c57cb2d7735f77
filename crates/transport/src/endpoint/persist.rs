//! The persist timer (RFC 9293, section 3.8.6.1): probes of a window that the peer has closed.

use ropewalk_quantities::Time;

/// Most doublings of the interval between probes.
const MAX_BACKOFF: u32 = 16;

/// When the next probe is due, and how many there were.
#[derive(Clone, Copy, Debug)]
pub(super) struct PersistTimer {
    at: Time,
    probes: u32,
}

impl PersistTimer {
    pub(super) const OFF: PersistTimer = PersistTimer {
        at: Time::MAX,
        probes: 0,
    };

    /// When it expires, or [`Time::MAX`].
    #[inline]
    pub(super) fn at(&self) -> Time {
        self.at
    }

    #[inline]
    pub(super) fn is_off(&self) -> bool {
        self.at == Time::MAX
    }

    /// Starts it, for the retransmission timeout doubled with each probe, at most `most`.
    pub(super) fn start(&mut self, now: Time, rto: Time, most: Time) {
        let wait = rto
            .as_nanos()
            .saturating_mul(1 << self.probes.min(MAX_BACKOFF));
        self.at = now + Time::from_nanos(wait).min(most);
    }

    /// It has expired.
    pub(super) fn expire(&mut self) {
        self.at = Time::MAX;
    }

    /// A probe is sent.
    pub(super) fn count_probe(&mut self) {
        self.probes += 1;
    }
}
