//! Start-up on links whose round trips vary from the beginning.
//!
//! During start-up a round trip much longer than the least one is the sign of a full queue. On a link with
//! jitter, or one that serves in bursts, it is no such sign, and a sender that relied on it would stay at ten
//! segments. So as long as more bytes in flight deliver proportionally more, the amount may double again, as
//! in TCP's slow start.

use super::round::Round;

/// A round of slow start sends this many times the bytes of the previous one.
pub(crate) const FACTOR: f64 = 2.0;
/// Least growth of the bytes in flight for a comparison of rates.
const MIN_GROWTH: f64 = 1.25;
/// The rate must have grown by this fraction of that growth.
const MIN_RATE_GROWTH: f64 = 0.85;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SlowStart {
    rate: f64,
    filled: f64,
    /// A round without a queue has delivered more than the previous one: a later queue is our own.
    has_grown: bool,
    pub(crate) bytes: f64,
}

impl SlowStart {
    /// Ends a round. `is_long`: its last round trip was long.
    pub(crate) fn on_round(&mut self, round: &Round, is_long: bool) {
        let (more, faster) = (round.filled / self.filled, round.rate / self.rate);
        let is_elastic = more >= MIN_GROWTH && faster >= MIN_RATE_GROWTH * more;
        self.has_grown |= faster >= MIN_GROWTH && !is_long;
        self.bytes = if is_long && (is_elastic || !self.has_grown) {
            FACTOR * round.filled
        } else {
            0.0
        };
        (self.rate, self.filled) = (round.rate, round.filled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(rounds: &[(f64, f64, bool)]) -> Vec<f64> {
        let mut slow_start = SlowStart::default();
        let each = rounds.iter().map(|(filled, rate, is_long)| {
            let round = Round {
                rate: *rate,
                error: 0.0,
                least: 0.1,
                filled: *filled,
                held: true,
                busy: true,
                drained: false,
            };
            slow_start.on_round(&round, *is_long);
            slow_start.bytes
        });
        each.collect()
    }

    #[test]
    fn jitter_does_not_stop_doubling_until_link_is_full() {
        let rounds = [(10.0, 1.0), (20.0, 1.9), (40.0, 3.7), (80.0, 4.0)];
        let rounds = rounds.map(|(filled, rate)| (filled, rate, true));
        assert_eq!(bytes(&rounds)[..3], [20.0, 40.0, 80.0]);
        // Once a round without a queue has grown, one without growth is the last.
        let clean = [(10.0, 1.0, false), (20.0, 2.0, false), (40.0, 2.4, true)];
        assert_eq!(bytes(&clean), [0.0; 3]);
    }
}
