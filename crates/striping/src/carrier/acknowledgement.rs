//! Times at which to acknowledge the frames of a carrier.

use ropewalk_quantities::Time;

const DISTANCE: Time = Time::from_millis(2);

/// Bytes after which an acknowledgement is sent at once: the data that a sender keeps for it should fit the
/// processor's cache on a fast path.
const BYTES: u64 = 256 << 10;

#[derive(Clone, Debug, Default)]
pub(crate) struct Acknowledgement {
    received: u64,
    acknowledged: u64,
    acknowledged_at: Option<Time>,
    /// Bytes not acknowledged yet.
    unacknowledged: u64,
}

impl Acknowledgement {
    pub(crate) fn on_received(&mut self, wire_len: u64) {
        self.received += 1;
        self.unacknowledged += wire_len;
    }

    /// Returns when to send an acknowledgement; `None` if there is nothing to acknowledge.
    pub(crate) fn due(&self) -> Option<Time> {
        (self.received > self.acknowledged).then(|| match self.acknowledged_at {
            Some(at) if self.unacknowledged < BYTES => at + DISTANCE,
            _ => Time::ZERO,
        })
    }

    pub(crate) fn take(&mut self, now: Time) -> Option<u64> {
        self.due().filter(|due| *due <= now)?;
        self.acknowledged = self.received;
        self.acknowledged_at = Some(now);
        self.unacknowledged = 0;
        Some(self.acknowledged)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_once_and_then_every_two_milliseconds() {
        let ms = Time::from_millis;
        let mut acknowledgement = Acknowledgement::default();
        assert_eq!(acknowledgement.due(), None);
        acknowledgement.on_received(10);
        assert_eq!(acknowledgement.take(ms(1)), Some(1));
        acknowledgement.on_received(10);
        acknowledgement.on_received(10);
        assert_eq!(acknowledgement.take(ms(2)), None);
        assert_eq!(acknowledgement.due(), Some(ms(3)));
        assert_eq!(acknowledgement.take(ms(3)), Some(3));
        assert_eq!(acknowledgement.due(), None);
    }

    #[test]
    fn many_bytes_are_acknowledged_at_once() {
        let ms = Time::from_millis;
        let mut acknowledgement = Acknowledgement::default();
        acknowledgement.on_received(10);
        assert_eq!(acknowledgement.take(ms(1)), Some(1));
        acknowledgement.on_received(BYTES - 1);
        assert_eq!(acknowledgement.take(ms(1)), None);
        acknowledgement.on_received(1);
        assert_eq!(acknowledgement.take(ms(1)), Some(3));
        acknowledgement.on_received(1);
        assert_eq!(acknowledgement.due(), Some(ms(3)));
    }
}
