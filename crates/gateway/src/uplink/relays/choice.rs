//! Choice among relays, by whether a carrier reaches each of them.

use std::time::{Duration, Instant};

/// Time without a live carrier after which a relay that was reached is lost.
const LOST_AFTER: Duration = Duration::from_millis(500);
/// Time for the first carrier to a relay.
const FIRST_CARRIER: Duration = Duration::from_millis(1500);
/// Time for which a preferred relay must be reached without a break until it is used again.
const RETURN_AFTER: Duration = Duration::from_secs(10);

/// The relay for new streams, among the first ones, which have links.
#[derive(Debug)]
pub(super) struct RelayChoice {
    relays: Vec<Reach>,
    current: usize,
}

/// Whether a relay is reached.
#[derive(Clone, Copy, Debug)]
struct Reach {
    is_reached: bool,
    /// Start of the present state.
    since: Instant,
    /// Time after which it is lost, unless it is reached.
    patience: Duration,
}

impl Reach {
    fn new(now: Instant) -> Reach {
        Reach {
            is_reached: false,
            since: now,
            patience: FIRST_CARRIER,
        }
    }

    fn update(&mut self, now: Instant, is_reached: bool) {
        if is_reached != self.is_reached {
            (self.is_reached, self.since) = (is_reached, now);
            self.patience = LOST_AFTER;
        }
    }

    fn is_lost(&self, now: Instant) -> bool {
        !self.is_reached && now >= self.since + self.patience
    }

    fn is_steady(&self, now: Instant) -> bool {
        self.is_reached && now >= self.since + RETURN_AFTER
    }
}

impl RelayChoice {
    pub(super) fn new(now: Instant) -> RelayChoice {
        RelayChoice {
            relays: vec![Reach::new(now)],
            current: 0,
        }
    }

    /// Number of the relay for new streams.
    pub(super) fn current(&self) -> usize {
        self.current
    }

    /// Notes for each relay that has links whether it is reached, and chooses again: a preferred relay that has
    /// been reached for 10 s, or, if the current one is lost, the first that is reached.
    pub(super) fn update(&mut self, now: Instant, reached: &[bool]) {
        self.relays.resize(reached.len(), Reach::new(now));
        for (relay, &is_reached) in self.relays.iter_mut().zip(reached) {
            relay.update(now, is_reached);
        }
        let preferred = self.relays[..self.current.min(reached.len())].iter();
        let steady = preferred.clone().position(|relay| relay.is_steady(now));
        let is_lost = self
            .relays
            .get(self.current)
            .is_none_or(|current| current.is_lost(now));
        let reached = self.relays.iter().position(|relay| relay.is_reached);
        if let Some(next) = steady.or(reached.filter(|_| is_lost)) {
            self.current = next;
        }
    }

    /// Whether all relays that have links are lost.
    pub(super) fn wants_another(&self, now: Instant) -> bool {
        self.relays.iter().all(|relay| relay.is_lost(now))
    }

    /// Whether the last relay that has links is not needed: a preferred one has been in use for 10 s.
    pub(super) fn can_leave_last(&self, now: Instant) -> bool {
        self.current + 1 < self.relays.len() && self.relays[self.current].is_steady(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn another_relay_is_wanted_when_all_are_lost() {
        let start = Instant::now();
        let mut choice = RelayChoice::new(start);
        choice.update(start, &[false]);
        assert!(!choice.wants_another(start + MS(1400)));
        assert!(choice.wants_another(start + MS(1500)));
        // The second one gets its own time for the first carrier.
        choice.update(start + MS(1500), &[false, false]);
        assert!(!choice.wants_another(start + MS(2900)));
        assert!(choice.wants_another(start + MS(3000)));
    }

    #[test]
    fn current_changes_when_it_is_lost_and_another_is_reached() {
        let start = Instant::now();
        let mut choice = RelayChoice::new(start);
        choice.update(start, &[true]);
        choice.update(start + MS(60_000), &[false]);
        choice.update(start + MS(60_400), &[false, true]);
        assert_eq!(choice.current(), 0, "a pause is no loss");
        choice.update(start + MS(60_500), &[false, true]);
        assert_eq!(choice.current(), 1);
        assert!(!choice.can_leave_last(start + MS(90_000)), "it is in use");
    }

    #[test]
    fn current_stays_while_no_relay_is_reached() {
        let start = Instant::now();
        let mut choice = RelayChoice::new(start);
        choice.update(start, &[true, true]);
        choice.update(start + MS(1000), &[false, false]);
        choice.update(start + MS(9000), &[false, false]);
        assert_eq!(choice.current(), 0);
    }

    #[test]
    fn preferred_relay_is_used_again_after_ten_steady_seconds() {
        let start = Instant::now();
        let mut choice = RelayChoice::new(start);
        choice.update(start, &[false, true]);
        choice.update(start + MS(1500), &[false, true]);
        assert_eq!(choice.current(), 1);
        // It flaps: 9 s of each 10 s.
        for second in 2..100 {
            let now = start + MS(second * 1000);
            choice.update(now, &[second % 10 != 0, true]);
            assert_eq!(choice.current(), 1, "after {second} s");
        }
        let up = start + MS(101_000);
        choice.update(up, &[true, true]);
        choice.update(up + MS(10_000), &[true, true]);
        assert_eq!(choice.current(), 0);
        assert!(choice.can_leave_last(up + MS(10_000)));
    }
}
