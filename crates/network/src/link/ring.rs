//! Packets in flight, by value, sorted by exit time.

use crate::route::RouteCursor;
use crate::timer_tree::{IDLE, Key};

#[derive(Clone, Copy, Debug)]
struct InFlight<P> {
    key: Key,
    size: u32,
    cursor: RouteCursor,
    packet: P,
}

/// Removed packet without its content.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dequeued {
    pub(crate) slot: u32,
    pub(crate) size: u32,
    pub(crate) cursor: RouteCursor,
}

/// Ring buffer whose length is a power of two; it grows only when full.
///
/// Exit times are stored apart from the packets: they are read ahead, and fit few cache lines.
#[derive(Clone, Debug)]
pub(crate) struct Ring<P> {
    slots: Vec<InFlight<P>>,
    /// Position, which only increases; its low bits are the slot.
    front: usize,
    back: usize,
}

const FIRST_CAPACITY: usize = 16;

impl<P: Copy> Ring<P> {
    pub(crate) const fn new() -> Ring<P> {
        Ring {
            slots: Vec::new(),
            front: 0,
            back: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.back.wrapping_sub(self.front)
    }

    #[inline]
    pub(crate) fn head(&self) -> Option<Key> {
        (self.front != self.back).then(|| self.slots[self.slot(self.front)].key)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.front == self.back
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Dequeued> {
        if self.is_empty() {
            return None;
        }
        let slot = self.slot(self.front);
        let InFlight { size, cursor, .. } = self.slots[slot];
        self.front = self.front.wrapping_add(1);
        Some(Dequeued {
            slot: slot as u32,
            size,
            cursor,
        })
    }

    /// Returns the packet removed from this slot; it stays there until the next push.
    #[inline]
    pub(crate) fn packet(&mut self, slot: u32) -> &mut P {
        &mut self.slots[slot as usize].packet
    }

    #[inline]
    pub(crate) fn push(&mut self, key: Key, size: u32, cursor: RouteCursor, packet: &P) {
        if self.len() == self.slots.len() {
            self.grow(packet);
        }
        let slot = self.slot(self.back);
        // Field by field, so that the packet is copied only once, into its slot.
        let item = &mut self.slots[slot];
        item.key = key;
        item.size = size;
        item.cursor = cursor;
        item.packet = *packet;
        self.back = self.back.wrapping_add(1);
    }

    /// Moves the last packet forward to its position by time and order.
    pub(crate) fn sort_last(&mut self) {
        let mut position = self.back.wrapping_sub(1);
        let slot = self.slot(position);
        let item = self.slots[slot];
        let key = item.key;
        while position != self.front {
            let before = self.slot(position.wrapping_sub(1));
            if self.slots[before].key <= key {
                break;
            }
            let slot = self.slot(position);
            self.slots[slot] = self.slots[before];
            position = position.wrapping_sub(1);
        }
        let slot = self.slot(position);
        self.slots[slot] = item;
    }

    #[inline]
    fn slot(&self, position: usize) -> usize {
        position & (self.slots.len().wrapping_sub(1))
    }

    /// Doubles the capacity of a full ring in place; unused slots hold copies of `packet`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, packet: &P) {
        let filler = InFlight {
            key: IDLE,
            size: 0,
            cursor: RouteCursor::default(),
            packet: *packet,
        };
        let len = self.len();
        if len > 0 {
            let front = self.slot(self.front);
            self.slots.rotate_left(front);
        }
        let capacity = (2 * len).max(FIRST_CAPACITY);
        self.slots.reserve_exact(capacity - len);
        self.slots.resize(capacity, filler);
        self.front = 0;
        self.back = len;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ropewalk_quantities::Time;

    use super::*;

    fn key(exit: u64, order: u64) -> Key {
        Key::new(Time::from_nanos(exit), order)
    }

    fn push(ring: &mut Ring<u64>, exit: u64, order: u64) {
        ring.push(key(exit, order), 1, RouteCursor::default(), &order);
    }

    #[test]
    fn it_grows_only_when_full() {
        let mut ring = Ring::new();
        for order in 0..10_000 {
            push(&mut ring, order, order);
            if order >= 10 {
                let popped = ring.pop().unwrap();
                assert_eq!(*ring.packet(popped.slot), order - 10);
            }
        }
        assert_eq!(ring.slots.len(), FIRST_CAPACITY);
        for order in 10_000..10_007 {
            push(&mut ring, order, order);
        }
        assert_eq!((ring.len(), ring.slots.len()), (17, 2 * FIRST_CAPACITY));
        assert_eq!(ring.head(), Some(key(9_990, 9_990)));
    }

    proptest! {
        #[test]
        fn inserting_keeps_it_sorted(
            operations in prop::collection::vec(prop::option::weighted(0.7, 0_u64..50), 0..300),
        ) {
            let mut ring = Ring::new();
            let mut model = Vec::new();
            for (order, operation) in operations.into_iter().enumerate() {
                match operation {
                    Some(exit) => {
                        push(&mut ring, exit, order as u64);
                        ring.sort_last();
                        model.push(key(exit, order as u64));
                        model.sort_unstable();
                    }
                    None => {
                        let first = (!model.is_empty()).then(|| model.remove(0));
                        let head = ring.head();
                        prop_assert_eq!(head, first);
                        let popped = ring.pop().map(|popped| *ring.packet(popped.slot));
                        prop_assert_eq!(popped, first.map(|key| key.order));
                    }
                }
                prop_assert_eq!(ring.head(), model.first().copied());
                prop_assert_eq!(ring.len(), model.len());
            }
        }
    }
}
