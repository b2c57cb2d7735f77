//! What a round trip's worth of data brought, and what held it back.

use ropewalk_quantities::Time;

/// A round: from when data left until that was acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Round {
    /// Bytes per second that it brought.
    pub(crate) rate: f64,
    /// So much of the rate is one frame more or less.
    pub(crate) error: f64,
    /// Least round trip in it, in seconds.
    pub(crate) least: f64,
    /// Bytes in flight, in the mean of its acknowledgements.
    pub(crate) filled: f64,
    /// The cap held back what waited.
    pub(crate) held: bool,
    /// So did the cap or TCP, all the time.
    pub(crate) busy: bool,
    /// The queue was drained on purpose: it says nothing of the rate.
    pub(crate) drained: bool,
}

/// The round under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    began: Time,
    delivered: u64,
    least: f64,
    filled: f64,
    samples: f64,
    held: bool,
    blocked: bool,
    dry: bool,
    drained: bool,
}

impl Rounds {
    pub(crate) fn new(now: Time) -> Rounds {
        Rounds::begin(now, 0, false)
    }

    fn begin(now: Time, delivered: u64, blocked: bool) -> Rounds {
        Rounds {
            began: now,
            delivered,
            least: f64::MAX,
            filled: 0.0,
            samples: 0.0,
            held: false,
            blocked,
            dry: false,
            drained: false,
        }
    }

    /// Something waited, and the cap let it not go.
    pub(crate) fn on_held(&mut self) {
        self.held = true;
    }

    /// The socket took no more.
    pub(crate) fn on_blocked(&mut self) {
        self.blocked = true;
    }

    /// There was nothing to send, with room for it.
    pub(crate) fn on_dry(&mut self) {
        self.dry = true;
    }

    /// The queue is being drained.
    pub(crate) fn on_drained(&mut self) {
        self.drained = true;
    }

    pub(crate) fn is_held(&self) -> bool {
        self.held
    }

    /// How long the round under way has taken.
    pub(crate) fn takes(&self, now: Time) -> Time {
        now.saturating_sub(self.began)
    }

    /// Bytes that it has brought, with so much delivered in all.
    pub(crate) fn brought(&self, delivered: u64) -> u64 {
        delivered - self.delivered
    }

    /// An acknowledgement, after a round trip of so many seconds with so much in flight.
    pub(crate) fn on_acknowledged(&mut self, rtt: f64, in_flight: u64) {
        self.least = self.least.min(rtt);
        self.filled += in_flight as f64;
        self.samples += 1.0;
    }

    /// It is over, with so much delivered in all, in frames of this length; the next one begins with the
    /// socket full or not.
    pub(crate) fn end(&mut self, now: Time, delivered: u64, frame: usize, blocked: bool) -> Round {
        let takes = now.saturating_sub(self.began).as_secs_f64();
        let brought = self.brought(delivered) as f64;
        let over = std::mem::replace(self, Rounds::begin(now, delivered, blocked));
        Round {
            rate: brought / takes.max(1e-9),
            error: frame as f64 / brought.max(1.0),
            least: over.least,
            filled: over.filled / over.samples.max(1.0),
            held: over.held && !over.dry,
            busy: (over.held || over.blocked) && !over.dry,
            drained: over.drained,
        }
    }
}
