//! When to tell the other end how many of its frames have come on a carrier.

use ropewalk_quantities::Time;

/// Acknowledgements of a carrier keep this distance.
const DISTANCE: Time = Time::from_millis(2);

/// Counts what comes, and says when to tell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Acknowledgement {
    received: u64,
    told: u64,
    told_at: Option<Time>,
}

impl Acknowledgement {
    /// A frame came that counts.
    pub(crate) fn on_received(&mut self) {
        self.received += 1;
    }

    /// When to tell; `None` if there is nothing to tell.
    pub(crate) fn due(&self) -> Option<Time> {
        (self.received > self.told).then(|| self.told_at.map_or(Time::ZERO, |at| at + DISTANCE))
    }

    /// What to tell now, if it is due.
    pub(crate) fn take(&mut self, now: Time) -> Option<u64> {
        self.due().filter(|due| *due <= now)?;
        self.told = self.received;
        self.told_at = Some(now);
        Some(self.told)
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
        acknowledgement.on_received();
        assert_eq!(acknowledgement.take(ms(1)), Some(1));
        acknowledgement.on_received();
        acknowledgement.on_received();
        assert_eq!(acknowledgement.take(ms(2)), None);
        assert_eq!(acknowledgement.due(), Some(ms(3)));
        assert_eq!(acknowledgement.take(ms(3)), Some(3));
        assert_eq!(acknowledgement.due(), None);
    }
}
