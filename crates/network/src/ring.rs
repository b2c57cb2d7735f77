//! Packets on their way, by value, sorted by when they come out.

use ropewalk_quantities::Time;

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlight<P> {
    pub(crate) exit: Time,
    pub(crate) order: u64,
    pub(crate) size: u32,
    pub(crate) packet: P,
}

impl<P> InFlight<P> {
    #[inline]
    fn key(&self) -> (Time, u64) {
        (self.exit, self.order)
    }
}

/// A ring buffer whose length is a power of two, and which grows only when it is full.
#[derive(Clone, Debug)]
pub(crate) struct Ring<P> {
    slots: Vec<InFlight<P>>,
    /// Positions count up for ever; the slot of a position is its low bits.
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

    /// The exit and order of the first packet.
    #[inline]
    pub(crate) fn head(&self) -> Option<(Time, u64)> {
        (self.front != self.back).then(|| self.slots[self.slot(self.front)].key())
    }

    /// Takes the first packet.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<InFlight<P>> {
        if self.front == self.back {
            return None;
        }
        let first = self.slots[self.slot(self.front)];
        self.front = self.front.wrapping_add(1);
        Some(first)
    }

    /// Puts a packet behind all others.
    #[inline]
    pub(crate) fn push(&mut self, item: InFlight<P>) {
        if self.len() == self.slots.len() {
            self.grow(item);
        }
        let slot = self.slot(self.back);
        self.slots[slot] = item;
        self.back = self.back.wrapping_add(1);
    }

    /// Puts a packet where its exit and order belong, searching from the back.
    pub(crate) fn insert(&mut self, item: InFlight<P>) {
        self.push(item);
        let mut position = self.back.wrapping_sub(1);
        while position != self.front {
            let before = self.slot(position.wrapping_sub(1));
            if self.slots[before].key() <= item.key() {
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

    /// Doubles the room; `filler` stands in slots that hold nothing.
    #[cold]
    fn grow(&mut self, filler: InFlight<P>) {
        let len = self.len();
        let capacity = (self.slots.len() * 2).max(FIRST_CAPACITY);
        let mut slots = Vec::with_capacity(capacity);
        slots.extend((0..len).map(|i| self.slots[self.slot(self.front.wrapping_add(i))]));
        slots.resize(capacity, filler);
        self.slots = slots;
        self.front = 0;
        self.back = len;
    }
}
