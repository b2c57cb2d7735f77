//! How much the connections inside have in flight.
//!
//! What they have in flight arrives within a round trip of the slowest link in use, or as fast as the links
//! carry it. Where that is too little to fill the links, fewer links with a shorter round trip carry more of
//! it. The estimate counts only once it has stopped growing: a window that doubles each round trip will soon
//! fill all links.

use std::collections::VecDeque;

use ropewalk_quantities::{Rate, Time};

/// After this many rounds that did not grow by an eighth, what is in flight is all there is.
const FLAT_ROUNDS: u32 = 3;
/// The largest of this many rounds counts.
const ROUNDS: usize = 4;
/// Least length of a round.
const MIN_ROUND: Time = Time::from_millis(20);
/// Rounds with fewer bytes are ignored: a handshake, an initial window, a pause.
const MIN_BYTES: u64 = 20_000;
/// After this many ignored rounds in a row, a new connection may have begun, with a handshake and an initial
/// window.
const QUIET_ROUNDS: u32 = 3;

/// Bytes in flight, round by round.
#[derive(Debug, Default)]
pub(super) struct Demand {
    begun_at: Time,
    /// Bytes taken in all when the round began.
    taken: u64,
    /// Bytes in flight in each of the last rounds.
    rounds: VecDeque<u64>,
    /// The largest round so far, the rounds since it grew, and the ignored rounds in a row.
    best: u64,
    flat: u32,
    quiet: u32,
}

impl Demand {
    /// So far `taken` bytes were taken in all, of which `waiting` wait in the queue; the others arrive within
    /// `round_trip`.
    pub(super) fn note(&mut self, now: Time, taken: u64, waiting: u64, round_trip: Time) {
        let span = now.saturating_sub(self.begun_at);
        if span < round_trip.max(MIN_ROUND) {
            return;
        }
        let bits = (taken - self.taken).saturating_mul(8_000_000_000);
        let rate = Rate::from_bps(bits / span.as_nanos());
        let in_flight = rate.bytes_in(round_trip).as_u64() + waiting;
        (self.begun_at, self.taken) = (now, taken);
        if in_flight < MIN_BYTES {
            self.quiet = (self.quiet + 1).min(QUIET_ROUNDS);
            if self.quiet == QUIET_ROUNDS {
                self.rounds.clear();
                (self.best, self.flat) = (0, 0);
            }
            return;
        }
        self.quiet = 0;
        if self.rounds.len() == ROUNDS {
            self.rounds.pop_front();
        }
        self.rounds.push_back(in_flight);
        if in_flight > self.best + self.best / 8 {
            (self.best, self.flat) = (in_flight, 0);
        } else {
            self.flat = (self.flat + 1).min(FLAT_ROUNDS);
        }
    }

    /// Bytes in flight, if that is all there is; `None` while it grows.
    pub(super) fn in_flight(&self) -> Option<u64> {
        let most = self.rounds.iter().copied().max();
        most.filter(|_| self.flat >= FLAT_ROUNDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After rounds of 100 ms in which so many thousand bytes were taken each.
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
    fn who_grows_is_not_taken_at_his_word() {
        assert_eq!(after(&[30, 60, 120, 240, 480]).in_flight(), None);
        assert_eq!(after(&[30, 60, 61, 62]).in_flight(), None);
        assert_eq!(after(&[30, 60, 61, 62, 60]).in_flight(), Some(67_000));
    }

    #[test]
    fn handshakes_say_nothing() {
        assert_eq!(after(&[1, 1, 1, 1, 1, 30]).in_flight(), None);
    }

    #[test]
    fn who_comes_after_a_pause_is_not_told_by_who_was_there_before() {
        let before = [400, 400, 400, 400];
        let then = |rounds: &[u64]| after(&[&before[..], rounds].concat()).in_flight();
        assert_eq!(then(&[0, 0]), Some(405_000));
        assert_eq!(then(&[0, 0, 14]), None);
        assert_eq!(then(&[0, 0, 14, 30, 60, 120, 200]), None);
        assert_eq!(then(&[0, 0, 14, 30, 30, 30, 30]), Some(35_000));
    }
}
