//! Slots: times at which held packets are released together, as in transmit opportunities of a radio.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;

use crate::config::Slot;
use crate::uniform::uniform;

#[derive(Clone, Debug)]
pub(crate) struct Slots {
    slot: Option<Slot>,
    /// Time of the last slot that holds packets.
    next: Time,
    stream: Pcg64Mcg,
}

impl Slots {
    /// Creates the slots; a slot of zero length uses no random numbers.
    pub(crate) fn new(slot: Option<Slot>, stream: Pcg64Mcg) -> Slots {
        Slots {
            slot: slot.filter(|slot| slot.most > Time::ZERO),
            next: Time::ZERO,
            stream,
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        self.slot.is_none()
    }

    /// Returns when a packet that is ready at `ready` leaves: at the slot that already holds packets, or at
    /// a new one (as in netem).
    #[inline]
    pub(crate) fn hold(&mut self, ready: Time) -> Time {
        match self.slot {
            None => ready,
            Some(slot) => {
                if ready > self.next {
                    let width = slot.most.saturating_sub(slot.least).as_nanos() as f64;
                    let beyond = Time::from_nanos((uniform(&mut self.stream) * width) as u64);
                    self.next = ready.saturating_add(slot.least + beyond);
                }
                self.next
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(least_ms: u64, most_ms: u64) -> Slots {
        let [least, most] = [least_ms, most_ms].map(Time::from_millis);
        Slots::new(Some(Slot { least, most }), Pcg64Mcg::new(3))
    }

    #[test]
    fn packets_come_out_together() {
        let mut slots = slots(10, 10);
        let exits = [3, 4, 13, 14, 24, 25].map(|ms| slots.hold(Time::from_millis(ms)));
        assert_eq!(exits, [13, 13, 13, 24, 24, 35].map(Time::from_millis));
    }

    #[test]
    fn slots_are_uniform_between_their_bounds() {
        let mut slots = slots(10, 30);
        let waits: Vec<f64> = (0..10_000)
            .map(|second| {
                let ready = Time::from_secs(second + 1);
                (slots.hold(ready) - ready).as_millis_f64()
            })
            .collect();
        let mean = waits.iter().sum::<f64>() / 1e4;
        assert!((mean - 20.0).abs() < 0.2, "{mean}");
        assert!(waits.iter().all(|wait| (10.0..30.0).contains(wait)));
    }

    #[test]
    fn no_slot_draws_no_random_numbers() {
        for slot in [None, Some((Time::ZERO, Time::ZERO))] {
            let slot = slot.map(|(least, most)| Slot { least, most });
            let mut slots = Slots::new(slot, Pcg64Mcg::new(3));
            assert_eq!(slots.hold(Time::from_millis(1)), Time::from_millis(1));
            assert_eq!(slots.stream, Pcg64Mcg::new(3));
        }
    }
}
