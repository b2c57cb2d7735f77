//! Measurements of a round: the rate, the round trips and the limiting factor.

use ropewalk_quantities::Time;

/// A finished round: from sending data until their acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Round {
    /// Delivery rate in bytes per second.
    pub(crate) rate: f64,
    /// Relative error of the rate: one frame more or less.
    pub(crate) error: f64,
    /// Least round trip in it, in seconds.
    pub(crate) least: f64,
    /// Mean of the bytes in flight at its acknowledgements.
    pub(crate) filled: f64,
    /// The cap held data back.
    pub(crate) held: bool,
    /// The cap or TCP limited it all the time.
    pub(crate) busy: bool,
    /// The queue was drained on purpose, so the rate is invalid.
    pub(crate) drained: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    began: Time,
    delivered: u64,
    least: f64,
    filled: f64,
    samples: f64,
    pub(crate) held: bool,
    blocked: bool,
    app_limited: bool,
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
            app_limited: false,
            drained: false,
        }
    }

    pub(crate) fn on_cap_limited(&mut self) {
        self.held = true;
    }

    pub(crate) fn on_blocked(&mut self) {
        self.blocked = true;
    }

    pub(crate) fn on_app_limited(&mut self) {
        self.app_limited = true;
    }

    pub(crate) fn on_drained(&mut self) {
        self.drained = true;
    }

    pub(crate) fn duration(&self, now: Time) -> Time {
        now.saturating_sub(self.began)
    }

    pub(crate) fn delivered_in(&self, delivered: u64) -> u64 {
        delivered - self.delivered
    }

    pub(crate) fn on_acknowledged(&mut self, rtt: f64, in_flight: u64) {
        self.least = self.least.min(rtt);
        self.filled += in_flight as f64;
        self.samples += 1.0;
    }

    /// Ends the round, with `delivered` bytes in total, in frames of `frame` bytes. `blocked`: the socket is
    /// full as the next round begins.
    pub(crate) fn end(&mut self, now: Time, delivered: u64, frame: usize, blocked: bool) -> Round {
        let duration = now.saturating_sub(self.began).as_secs_f64();
        let delivered_in = self.delivered_in(delivered) as f64;
        let over = std::mem::replace(self, Rounds::begin(now, delivered, blocked));
        Round {
            rate: delivered_in / duration.max(1e-9),
            error: frame as f64 / delivered_in.max(1.0),
            least: over.least,
            filled: over.filled / over.samples.max(1.0),
            held: over.held && !over.app_limited,
            busy: (over.held || over.blocked) && !over.app_limited,
            drained: over.drained,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_has_rate_and_limiting_factor() {
        let mut rounds = Rounds::new(Time::ZERO);
        rounds.on_cap_limited();
        rounds.on_drained();
        rounds.on_acknowledged(0.02, 3000);
        rounds.on_acknowledged(0.01, 5000);
        let first = rounds.end(Time::from_millis(50), 10_000, 1000, true);
        let expected = Round {
            rate: 200_000.0,
            error: 0.1,
            least: 0.01,
            filled: 4000.0,
            held: true,
            busy: true,
            drained: true,
        };
        assert_eq!(first, expected);
        // The socket was full as it began; nothing else is left of the first.
        let second = rounds.end(Time::from_millis(100), 15_000, 1000, false);
        assert_eq!((second.rate, second.error), (100_000.0, 0.2));
        assert_eq!(
            (second.held, second.busy, second.drained),
            (false, true, false)
        );
        rounds.on_cap_limited();
        rounds.on_blocked();
        rounds.on_app_limited();
        let third = rounds.end(Time::from_millis(150), 15_000, 1000, false);
        assert_eq!((third.held, third.busy), (false, false));
    }
}
