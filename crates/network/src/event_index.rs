//! Next event time of each hop.

use ropewalk_quantities::Time;

use crate::timer_tree::{IDLE, Key, TimerTree};
use crate::wheel::Wheel;

/// Next event time of each hop, and the earliest.
#[derive(Clone, Debug)]
pub(crate) struct EventIndex {
    /// The earliest, cached: it is read more often than it changes.
    first: (u32, Key),
    all: All,
}

/// Tournament tree for few hops, timing wheel for many.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "there is one in a network, and it is read with every packet"
)]
enum All {
    Few(TimerTree),
    Many(Wheel),
}

/// Number of hops up to which a tournament tree is faster.
const FEW: usize = 128;

impl EventIndex {
    pub(crate) fn new() -> EventIndex {
        EventIndex {
            first: (0, IDLE),
            all: All::Few(TimerTree::new(0)),
        }
    }

    pub(crate) fn of(hops: usize) -> EventIndex {
        let mut due = EventIndex::new();
        due.grow(hops);
        due
    }

    /// Extends the index to this many hops; existing ones keep their times.
    pub(crate) fn grow(&mut self, hops: usize) {
        match &mut self.all {
            All::Few(timer_tree) if hops <= FEW => timer_tree.grow(hops),
            All::Few(timer_tree) => {
                let mut wheel = Wheel::new(hops);
                (0..timer_tree.sources()).for_each(|hop| wheel.set(hop, timer_tree.key(hop)));
                self.all = All::Many(wheel);
            }
            All::Many(wheel) => wheel.grow(hops),
        }
    }

    #[inline]
    pub(crate) fn key(&self, hop: usize) -> Key {
        match &self.all {
            All::Few(timer_tree) => timer_tree.key(hop),
            All::Many(wheel) => wheel.key(hop),
        }
    }

    #[inline]
    pub(crate) fn set(&mut self, hop: usize, key: Key) {
        self.set_from(Time::ZERO, hop, key);
    }

    /// Sets the next event time of a hop; no hop will be due before `now`.
    #[inline(always)]
    pub(crate) fn set_from(&mut self, now: Time, hop: usize, key: Key) {
        let (first, key) = match &mut self.all {
            All::Few(timer_tree) => {
                timer_tree.set(hop, key);
                timer_tree.first()
            }
            All::Many(wheel) => {
                wheel.reach(now);
                wheel.set(hop, key);
                wheel.first()
            }
        };
        self.first = (first as u32, key);
    }

    #[inline]
    pub(crate) fn first(&self) -> (usize, Key) {
        let (hop, key) = self.first;
        (hop as usize, key)
    }
}
