//! Liveness of the peer on a carrier.

use ropewalk_quantities::Time;

/// Least silence that makes a busy carrier suspicious.
const MIN_SILENCE: Time = Time::from_millis(60);
/// A silence of this many mean gaps between frames is suspicious.
const USUAL_GAPS: u64 = 8;
/// Added to the round trip and its deviation before an answer counts as missing.
const SLACK: Time = Time::from_millis(25);

#[derive(Clone, Debug)]
pub(crate) struct Liveness {
    pub(crate) heard_at: Time,
    /// Smoothed gap between received frames while anything was in flight.
    gap: Option<Time>,
    suspected_at: Option<Time>,
    pub(crate) is_answered: bool,
    pub(crate) first_timeout: Time,
}

impl Liveness {
    pub(crate) fn new(now: Time, first_timeout: Time) -> Liveness {
        Liveness {
            heard_at: now,
            gap: None,
            suspected_at: None,
            is_answered: false,
            first_timeout,
        }
    }

    pub(crate) fn on_answer(&mut self) {
        self.is_answered = true;
    }

    /// Notes that the peer was heard at `at`. `waiting_since`: send time of the oldest unanswered frame or
    /// ping. Returns whether this ends a suspicion.
    pub(crate) fn on_heard(&mut self, at: Time, waiting_since: Option<Time>) -> bool {
        if at <= self.heard_at {
            return false;
        }
        let busy = waiting_since.is_some_and(|since| since <= self.heard_at);
        if busy && self.suspected_at.is_none() {
            let gap = at - self.heard_at;
            self.gap = Some(
                self.gap
                    .map_or(gap, |smoothed| smoothed - smoothed / 8 + gap / 8),
            );
        }
        self.heard_at = at;
        if self.suspected_at.is_some_and(|since| at > since) {
            self.suspected_at = None;
            return true;
        }
        false
    }

    /// Returns when silence becomes suspicious. `waiting_since` is the send time of the oldest unanswered
    /// frame or ping; `srtt` and `deviation` are of the round trip.
    ///
    /// A carrier that is heard every few milliseconds (`steady`) is suspected after a short silence. One that
    /// was idle cannot answer within a round trip, and one in slow start sends one burst in each round trip.
    pub(crate) fn deadline(
        &self,
        waiting_since: Time,
        srtt: Time,
        rttvar: Time,
        steady: bool,
    ) -> Time {
        let round_trip = self.heard_at.max(waiting_since) + srtt + rttvar * 4 + SLACK;
        match self.gap.filter(|_| steady) {
            None => round_trip,
            Some(gap) => {
                let answer = self.heard_at.max(waiting_since + srtt);
                let silence = MIN_SILENCE.max(gap * USUAL_GAPS).max(srtt / 2);
                round_trip.min(answer + silence)
            }
        }
    }

    pub(crate) fn suspect(&mut self, now: Time) {
        self.suspected_at = Some(now);
    }

    pub(crate) fn is_suspected(&self) -> bool {
        self.suspected_at.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn busy_carrier_is_suspicious_after_60_ms() {
        let mut liveness = Liveness::new(MS(0), MS(1000));
        for at in 20..100 {
            liveness.on_heard(MS(at), Some(MS(at - 20)));
        }
        assert_eq!(liveness.deadline(MS(75), MS(20), MS(20), true), MS(99 + 60));
    }

    #[test]
    fn idle_carrier_may_answer_within_a_round_trip() {
        let mut liveness = Liveness::new(MS(0), MS(1000));
        assert_eq!(liveness.deadline(MS(500), MS(200), MS(10), true), MS(765));
        for at in 210..300 {
            liveness.on_heard(MS(at), Some(MS(at - 210)));
        }
        let deadline = |steady| liveness.deadline(MS(1000), MS(200), MS(100), steady);
        assert_eq!(deadline(true), MS(1300));
        assert_eq!(deadline(false), MS(1625));
    }

    #[test]
    fn trusted_again_when_heard_after_the_suspicion() {
        let mut liveness = Liveness::new(MS(0), MS(1000));
        liveness.suspect(MS(100));
        // The time comes from the socket: it is earlier than the suspicion.
        assert!(!liveness.on_heard(MS(90), None));
        assert!(liveness.is_suspected());
        assert!(liveness.on_heard(MS(101), None));
        assert!(!liveness.is_suspected());
    }
}
