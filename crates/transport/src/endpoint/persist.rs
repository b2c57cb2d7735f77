//! The persist timer (RFC 9293, section 3.8.6.1): probes of a window that the peer has closed.

use ropewalk_quantities::Time;

const MAX_BACKOFF: u32 = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct PersistTimer {
    pub(super) at: Time,
    probes: u32,
}

impl PersistTimer {
    pub(super) const OFF: PersistTimer = PersistTimer {
        at: Time::MAX,
        probes: 0,
    };

    #[inline]
    pub(super) fn is_off(&self) -> bool {
        self.at == Time::MAX
    }

    /// Starts the timer with the retransmission timeout, doubled with each probe, at most `most`.
    pub(super) fn start(&mut self, now: Time, rto: Time, most: Time) {
        let wait = rto
            .as_nanos()
            .saturating_mul(1 << self.probes.min(MAX_BACKOFF));
        self.at = now + Time::from_nanos(wait).min(most);
    }

    pub(super) fn expire(&mut self) {
        self.at = Time::MAX;
    }

    pub(super) fn count_probe(&mut self) {
        self.probes += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_back_off_until_the_window_opens() {
        let (rto, most) = (Time::from_millis(300), Time::from_secs(60));
        let mut timer = PersistTimer::OFF;
        assert!(timer.is_off());
        let mut waits = Vec::new();
        for seconds in 1..=10 {
            let now = Time::from_secs(100 * seconds);
            timer.start(now, rto, most);
            assert!(!timer.is_off());
            waits.push((timer.at - now).as_nanos() / 1_000_000);
            timer.expire();
            assert!(timer.is_off());
            timer.count_probe();
        }
        let expected = [
            300, 600, 1200, 2400, 4800, 9600, 19_200, 38_400, 60_000, 60_000,
        ];
        assert_eq!(waits, expected);
    }
}
