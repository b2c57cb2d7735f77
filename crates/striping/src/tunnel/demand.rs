//! Bytes in flight of the connections inside the tunnel.
//!
//! These bytes arrive within a round trip of the slowest link in use, or at the rate of the links. If they
//! are too few to fill the links, fewer links with a shorter round trip carry more of them. Growth is
//! estimated as well: a window that doubles each round trip will soon fill more links.

use std::collections::VecDeque;

use ropewalk_quantities::{Rate, Time};

/// Lower limit of delays: on a short link, most of the delay is a queue, which varies.
pub(super) const MIN_DELAY: Time = Time::from_millis(5);
/// After this many rounds without growth by an eighth, the bytes in flight are settled.
const FLAT_ROUNDS: u32 = 3;
/// The largest of this many rounds counts.
const ROUNDS: usize = 4;
const MIN_ROUND: Time = Time::from_millis(20);
/// Rounds with fewer bytes are ignored: a handshake, an initial window, a pause.
const MIN_BYTES: u64 = 20_000;
/// After this many ignored rounds in a row, a new connection may have begun, with a handshake and an initial
/// window.
const QUIET_ROUNDS: u32 = 3;
/// A round with fewer bytes, queued ones included, is a pause.
const MIN_SMALL: u64 = 6_000;
/// Rounds with fewer bytes are small. A slow start from an initial window (RFC 6928) exceeds that in its
/// third round trip. So after this many small rounds in a row the application, the peer's window, or
/// congestion control keeps it small; BBR, for one, allows two products of the lowest round trip it has ever
/// seen.
const MAX_SMALL: u64 = 40_000;
const SMALL_ROUNDS: u32 = 8;

/// Bytes in flight of the connections inside, with their growth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum InFlightTrend {
    /// The last round; they grow as in slow start, or nothing is known yet.
    Doubling(u64),
    /// The last round; they grow more slowly.
    Growing(u64),
    /// The largest recent round; they have not grown for some rounds.
    Settled(u64),
}

#[derive(Debug, Default)]
pub(super) struct Demand {
    begun_at: Time,
    /// Bytes taken in total when the round began.
    taken: u64,
    rounds: VecDeque<u64>,
    /// The largest round so far, the rounds since it grew, and the ignored rounds in a row.
    best: u64,
    flat: u32,
    quiet: u32,
    /// Whether the last round was larger than all before by a half: slow start doubles, although a round may
    /// be shorter than a round trip of the connection; congestion avoidance is far slower.
    doubles: bool,
    small: u32,
}

impl Demand {
    /// Updates the estimate: `taken` bytes were taken in total, `waiting` of these are queued; the others
    /// arrive within `round_trip`.
    pub(super) fn note(&mut self, now: Time, taken: u64, waiting: u64, round_trip: Time) {
        // The selection of links uses the same limit. With a shorter round trip the links would seem to be
        // filled by fewer bytes.
        let round_trip = round_trip.max(MIN_DELAY);
        let span = now.saturating_sub(self.begun_at);
        if span < round_trip.max(MIN_ROUND) {
            return;
        }
        let bits = (taken - self.taken).saturating_mul(8_000_000_000);
        let rate = Rate::from_bps(bits / span.as_nanos());
        let in_flight = rate.bytes_in(round_trip).as_u64() + waiting;
        (self.begun_at, self.taken) = (now, taken);
        self.small = match in_flight {
            MIN_SMALL..MAX_SMALL => (self.small + 1).min(SMALL_ROUNDS),
            _ => 0,
        };
        if in_flight < MIN_BYTES {
            self.quiet = (self.quiet + 1).min(QUIET_ROUNDS);
            if self.quiet == QUIET_ROUNDS {
                self.rounds.clear();
                (self.best, self.flat, self.doubles) = (0, 0, false);
            }
            return;
        }
        self.quiet = 0;
        if self.rounds.len() == ROUNDS {
            self.rounds.pop_front();
        }
        self.rounds.push_back(in_flight);
        self.doubles = in_flight > self.best + self.best / 2;
        if in_flight > self.best + self.best / 8 {
            (self.best, self.flat) = (in_flight, 0);
        } else {
            self.flat = (self.flat + 1).min(FLAT_ROUNDS);
        }
    }

    pub(super) fn in_flight(&self) -> InFlightTrend {
        let most = self.rounds.iter().copied().max().unwrap_or(MIN_BYTES);
        match self.flat == FLAT_ROUNDS || self.small == SMALL_ROUNDS {
            true => InFlightTrend::Settled(most),
            false if self.doubles || self.best == 0 => InFlightTrend::Doubling(most),
            false => InFlightTrend::Growing(most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds of 100 ms, with these kilobytes taken in each.
    fn after(rounds: &[u64]) -> Demand {
        let (mut demand, mut now, mut taken) = (Demand::default(), Time::ZERO, 0);
        for thousands in rounds {
            now += Time::from_millis(100);
            taken += thousands * 1000;
            demand.note(now, taken, 5000, Time::from_millis(100));
        }
        demand
    }

    #[test]
    fn three_flat_rounds_are_settled() {
        let in_flight = |rounds: &[u64]| after(rounds).in_flight();
        assert_eq!(in_flight(&[]), InFlightTrend::Doubling(MIN_BYTES));
        let doubled = in_flight(&[30, 60, 120, 240, 480]);
        assert_eq!(doubled, InFlightTrend::Doubling(485_000));
        assert_eq!(in_flight(&[30, 60, 80]), InFlightTrend::Growing(85_000));
        assert_eq!(in_flight(&[30, 60, 61, 62]), InFlightTrend::Growing(67_000));
        let settled = in_flight(&[30, 60, 61, 62, 60]);
        assert_eq!(settled, InFlightTrend::Settled(67_000));
    }

    #[test]
    fn handshakes_are_ignored() {
        let in_flight = after(&[1, 1, 1, 1, 1, 30]).in_flight();
        assert_eq!(in_flight, InFlightTrend::Doubling(35_000));
    }

    /// In the pauses of an interactive session nothing is in flight for whole rounds.
    #[test]
    fn eight_small_rounds_are_settled() {
        let in_flight = |rounds: &[u64]| after(rounds).in_flight();
        assert_eq!(in_flight(&[10; 7]), InFlightTrend::Doubling(MIN_BYTES));
        assert_eq!(in_flight(&[10; 8]), InFlightTrend::Settled(MIN_BYTES));
        let pause = [&[10; 7][..], &[0], &[10; 7]].concat();
        assert_eq!(in_flight(&pause), InFlightTrend::Doubling(MIN_BYTES));
        let mixed = [10, 16, 10, 16, 12, 10, 17, 10];
        assert_eq!(in_flight(&mixed), InFlightTrend::Settled(22_000));
        let then = [&mixed[..], &[60]].concat();
        assert_eq!(in_flight(&then), InFlightTrend::Doubling(65_000));
    }

    #[test]
    fn pause_resets_earlier_rounds() {
        let before = [400, 400, 400, 400];
        let then = |rounds: &[u64]| after(&[&before[..], rounds].concat()).in_flight();
        assert_eq!(then(&[0, 0]), InFlightTrend::Settled(405_000));
        assert_eq!(then(&[0, 0, 14]), InFlightTrend::Doubling(MIN_BYTES));
        let grown = then(&[0, 0, 14, 30, 60, 120, 200]);
        assert_eq!(grown, InFlightTrend::Doubling(205_000));
        let settled = then(&[0, 0, 14, 30, 30, 30, 30]);
        assert_eq!(settled, InFlightTrend::Settled(35_000));
    }
}
