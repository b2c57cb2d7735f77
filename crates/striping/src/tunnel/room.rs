//! How much may wait in the tunnel's queue.
//!
//! A bandwidth-delay product of the links in use is enough for a window that a loss reduces to fill
//! them again. What is more is answered as CoDel does (RFC 8289): one packet is dropped from the front,
//! the next one only when a sender has had the time to answer. Where the tail were dropped, a slow start
//! would lose a window's worth at once, and what it sends again, too.

use ropewalk_quantities::{Rate, Time};

/// The queue has at least this much room: three of the largest packets that a device with
/// segmentation offload hands over.
const LEAST: u64 = 3 * 65_536;
/// So many times as much may wait while the rate of a link is not known: it is likely to be more than
/// it seems.
const UNKNOWN_FACTOR: u64 = 3;
/// Beyond so much more, a quarter, nothing is taken: behind a long queue a repair is late when a link dies.
const MORE: u64 = 4;

/// Bounds of what waits, in bytes.
#[derive(Debug)]
pub(super) struct Room {
    enough: u64,
    most: u64,
    /// A drop is answered within this.
    answer: Time,
    /// Drops since the queue was last short enough.
    drops: u32,
    next_drop: Time,
}

impl Default for Room {
    fn default() -> Room {
        Room {
            enough: LEAST,
            most: LEAST + LEAST / MORE,
            answer: Time::ZERO,
            drops: 0,
            next_drop: Time::ZERO,
        }
    }
}

impl Room {
    /// Links of this rate together, of which the slowest takes this for a round trip; whether all their
    /// rates are known; and what may wait at the most, whatever they are.
    pub(super) fn set(&mut self, rate: Rate, round_trip: Time, is_known: bool, most: u64) {
        let product = rate.bytes_in(round_trip).as_u64();
        let factor = if is_known { 1 } else { UNKNOWN_FACTOR };
        let most = most.max(LEAST);
        self.enough = (product.max(LEAST) * factor).min(most);
        self.most = (self.enough + self.enough / MORE).min(most);
        self.answer = round_trip * (1 + factor);
    }

    /// What may wait without a drop.
    pub(super) fn enough(&self) -> u64 {
        self.enough
    }

    /// Whether so much may wait.
    pub(super) fn holds(&self, bytes: u64) -> bool {
        bytes <= self.most
    }

    /// Whether the front is dropped, since so much waits.
    pub(super) fn drops_front(&mut self, now: Time, bytes: u64) -> bool {
        if bytes <= self.enough {
            if now >= self.next_drop {
                self.drops = 0;
            }
            return false;
        }
        let due = now >= self.next_drop;
        if due {
            self.drops += 1;
            let seconds = self.answer.as_secs_f64() / f64::from(self.drops).sqrt();
            self.next_drop = now + Time::from_secs_f64(seconds);
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;
    const RATE: Rate = Rate::from_bps(80_000_000);
    const ANY: u64 = 1 << 30;

    /// Of 80 Mbit/s and 50 ms: 500 kB.
    fn room(is_known: bool, most: u64) -> Room {
        let mut room = Room::default();
        room.set(RATE, MS(50), is_known, most);
        room
    }

    #[test]
    fn a_product_of_rate_and_round_trip_may_wait_and_more_while_a_rate_is_not_known() {
        let bounds = |is_known, most| {
            let room = room(is_known, most);
            (room.enough(), room.holds(625_000), room.holds(625_001))
        };
        assert_eq!(bounds(true, ANY), (500_000, true, false));
        assert_eq!(bounds(false, ANY), (1_500_000, true, true));
        assert_eq!(bounds(false, 600_000), (600_000, false, false));
        let mut slow = Room::default();
        slow.set(Rate::from_bps(1000), MS(1), true, 0);
        assert_eq!((slow.enough(), slow.holds(LEAST)), (LEAST, true));
    }

    #[test]
    fn a_queue_that_is_too_long_loses_one_packet_for_each_time_to_answer_and_less_time_by_the_root()
    {
        let mut room = room(true, ANY);
        let dropped: Vec<u64> = (0..400)
            .filter(|&ms| room.drops_front(MS(ms), 500_001))
            .collect();
        // 100 ms, then 100 ms / sqrt(2), / sqrt(3), ...
        assert_eq!(dropped[..5], [0, 100, 171, 229, 279]);
    }

    #[test]
    fn a_queue_that_was_short_enough_for_long_begins_anew() {
        let mut room = room(true, ANY);
        assert!(room.drops_front(MS(0), 500_001));
        assert!(room.drops_front(MS(100), 500_001));
        assert!(!room.drops_front(MS(171), 500_000));
        let dropped: Vec<u64> = (200..320)
            .filter(|&ms| room.drops_front(MS(ms), 500_001))
            .collect();
        assert_eq!(dropped, [200, 300]);
    }
}
