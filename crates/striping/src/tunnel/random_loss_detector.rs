//! Detector of losses without congestion.
//!
//! A TCP that has filled a queue causes losses while that queue stands. Losses without a queue are the link's
//! own.

use ropewalk_quantities::Time;

/// A shorter queue, absolute or relative to the round trip, may be the tunnel's own.
const MIN_QUEUE: Time = Time::from_millis(10);
const MIN_QUEUE_DIVISOR: u64 = 8;
/// A link is lossy if the losses without a queue exceed twice the losses with one by this number.
const MANY: i32 = 3;
const MAX: i32 = 8;
const MEMORY: Time = Time::from_secs(10);

#[derive(Clone, Debug, Default)]
pub(super) struct RandomLossDetector {
    balance: i32,
    lost_at: Time,
    pub(super) is_lossy: bool,
}

impl RandomLossDetector {
    /// Adds `lost` losses at this queueing delay; negative if datagrams reported lost arrived late.
    pub(super) fn note(&mut self, now: Time, lost: i64, queueing: Time, round_trip: Time) {
        if now > self.lost_at + MEMORY {
            *self = RandomLossDetector::default();
        }
        if lost == 0 {
            return;
        }
        self.lost_at = now;
        let is_own = lost > 0 && queueing <= MIN_QUEUE.max(round_trip / MIN_QUEUE_DIVISOR);
        self.balance += if is_own { 1 } else { -2 };
        self.balance = self.balance.clamp(-MAX, MAX);
        self.is_lossy = self.balance >= if self.is_lossy { 1 } else { MANY };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND_TRIP: Time = Time::from_millis(40);

    fn after(losses: &mut RandomLossDetector, queueing: impl IntoIterator<Item = u64>) -> bool {
        for queueing in queueing {
            let now = losses.lost_at + Time::from_millis(100);
            losses.note(now, 1, Time::from_millis(queueing), ROUND_TRIP);
        }
        losses.is_lossy
    }

    #[test]
    fn losses_of_full_queue_are_no_random_losses() {
        let mut losses = RandomLossDetector::default();
        assert!(!after(&mut losses, [50, 50, 0, 0, 60, 0, 50, 0, 0]));
    }

    #[test]
    fn losses_without_queue_make_link_lossy_for_a_while() {
        let mut losses = RandomLossDetector::default();
        assert!(!after(&mut losses, [0, 5]));
        assert!(after(&mut losses, [0, 0, 0]));
        assert!(after(&mut losses, [50, 0, 0]));
        let at = losses.lost_at;
        losses.note(at + MEMORY, 0, Time::ZERO, ROUND_TRIP);
        assert!(losses.is_lossy);
        losses.note(at + MEMORY * 2, 0, Time::ZERO, ROUND_TRIP);
        assert!(!losses.is_lossy);
    }

    #[test]
    fn late_arrivals_are_no_losses() {
        let mut losses = RandomLossDetector::default();
        for second in 1..20 {
            losses.note(Time::from_secs(second), 1, Time::ZERO, ROUND_TRIP);
            losses.note(Time::from_secs(second), -1, Time::ZERO, ROUND_TRIP);
        }
        assert!(!losses.is_lossy);
    }
}
