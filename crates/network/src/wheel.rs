//! What happens next of many sources: a wheel of slots of time.
//!
//! What a change costs does not grow with the sources, as it does in an [agenda](crate::agenda). Each that
//! is due within a turn of the wheel is in the list of its slot, all others are in one list of what is far.
//! A slot's list is sorted: links that are alike are due at the very same times, and mostly who comes is
//! the last. How long a slot is follows what happens: shorter where many sources are passed in lists, longer
//! where many are far.

use ropewalk_quantities::Time;

use crate::agenda::{IDLE, Key};

/// Slots of the wheel: a bit for each in 64 words, and a bit for each of these.
const SLOTS: usize = 64 * 64;

/// No source: the end of a list.
const NONE: u32 = u32::MAX;

/// A slot is of so many nanoseconds at first, as a power of two; and the longest there is.
const FIRST_SHIFT: u32 = 12;
const LONGEST_SHIFT: u32 = 40;

/// The next time of each source, and the earliest of them; times never lie before what was
/// [reached](Wheel::reach).
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    /// By the source.
    keys: Vec<Key>,
    /// By the source: the next in its list.
    next: Vec<u32>,
    /// By the slot.
    lists: Vec<List>,
    /// Slots whose lists hold something, and words of these that are not zero.
    taken: [u64; 64],
    words: u64,
    /// The list of those that were more than a turn ahead, and the earliest time in slots of any.
    far: u32,
    far_from: u64,
    /// The earliest of all, which is in no list.
    first: u32,
    /// Nothing is due before, as a time in slots.
    reached: u64,
    shift: u32,
    effort: Effort,
}

/// The sources of a slot, the earliest first.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List {
    first: NONE,
    last: NONE,
};

/// What was done since the length of a slot was last thought about.
#[derive(Clone, Copy, Debug, Default)]
struct Effort {
    searches: usize,
    /// Sources passed in slots, and looked at in what is far.
    near: usize,
    far: usize,
}

impl Wheel {
    /// For so many sources, all idle.
    pub(crate) fn new(sources: usize) -> Wheel {
        Wheel {
            keys: vec![IDLE; sources],
            next: vec![NONE; sources],
            lists: vec![EMPTY; SLOTS],
            taken: [0; 64],
            words: 0,
            far: NONE,
            far_from: u64::MAX,
            first: NONE,
            reached: 0,
            shift: FIRST_SHIFT,
            effort: Effort::default(),
        }
    }

    pub(crate) fn grow(&mut self, sources: usize) {
        if sources > self.keys.len() {
            self.keys.resize(sources, IDLE);
            self.next.resize(sources, NONE);
        }
    }

    #[inline]
    pub(crate) fn key(&self, source: usize) -> Key {
        self.keys[source]
    }

    #[inline]
    pub(crate) fn first(&self) -> (usize, Key) {
        match self.keys.get(self.first as usize) {
            Some(key) => (self.first as usize, *key),
            None => (0, IDLE),
        }
    }

    /// It is so late: nothing will be due before.
    #[inline]
    pub(crate) fn reach(&mut self, now: Time) {
        self.reached = self.reached.max(now.as_nanos() >> self.shift);
    }

    /// The source is due then, whatever was said before. Apart from whoever has few sources.
    #[inline(never)]
    pub(crate) fn set(&mut self, source: usize, key: Key) {
        let number = source as u32;
        if self.first == number {
            self.first = NONE;
            self.keys[source] = key;
            if key != IDLE {
                self.insert(number, key);
            }
            self.find_first();
            return;
        }
        if self.keys[source] != IDLE {
            self.unlink(number);
        }
        self.keys[source] = key;
        if key == IDLE {
            return;
        }
        match self.keys.get(self.first as usize) {
            Some(first) if first.before(&key) => self.insert(number, key),
            Some(first) => {
                let (second, first) = (self.first, *first);
                self.insert(second, first);
                self.first = number;
            }
            None => self.first = number,
        }
    }

    #[inline]
    fn insert(&mut self, source: u32, key: Key) {
        let slot = key.time.as_nanos() >> self.shift;
        debug_assert!(slot >= self.reached, "time never goes back");
        if slot.saturating_sub(self.reached) >= SLOTS as u64 {
            self.next[source as usize] = self.far;
            self.far = source;
            self.far_from = self.far_from.min(slot);
            return;
        }
        let at = slot as usize % SLOTS;
        let List { first, last } = self.lists[at];
        if first == NONE {
            self.next[source as usize] = NONE;
            self.lists[at] = List {
                first: source,
                last: source,
            };
            self.taken[at / 64] |= 1 << (at % 64);
            self.words |= 1 << (at / 64);
        } else if self.keys[last as usize].before(&key) {
            self.next[source as usize] = NONE;
            self.next[last as usize] = source;
            self.lists[at].last = source;
        } else if key.before(&self.keys[first as usize]) {
            self.next[source as usize] = first;
            self.lists[at].first = source;
        } else {
            self.insert_behind(first, source, key);
        }
    }

    /// Puts a source behind those of a list that are due before it; one is, and one is not.
    fn insert_behind(&mut self, first: u32, source: u32, key: Key) {
        let mut before = first;
        loop {
            let next = self.next[before as usize];
            self.effort.near += 1;
            if key.before(&self.keys[next as usize]) {
                self.next[source as usize] = next;
                self.next[before as usize] = source;
                return;
            }
            before = next;
        }
    }

    /// The list of this slot: the first that is taken from what was reached on.
    #[inline]
    fn first_taken(&self) -> Option<usize> {
        let from = self.reached as usize % SLOTS;
        let (word, bit) = (from / 64, from % 64);
        let here = self.taken[word] >> bit << bit;
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // Words behind this one, then from the start to it: what of it lies before is a turn ahead.
        let behind = self.words & !(u64::MAX >> (63 - word));
        let words = if behind != 0 { behind } else { self.words };
        if words == 0 {
            return None;
        }
        let word = words.trailing_zeros() as usize;
        Some(word * 64 + self.taken[word].trailing_zeros() as usize)
    }

    /// Takes the earliest of all out of its list.
    #[inline]
    fn find_first(&mut self) {
        self.effort.searches += 1;
        if self.effort.searches > self.keys.len() + SLOTS {
            self.think();
        }
        let mut at = self.first_taken();
        if self.far != NONE && at.is_none_or(|at| self.far_from <= self.slot_of(at)) {
            self.bring_near();
            at = self.first_taken();
        }
        let Some(at) = at else {
            self.take_first_of_far();
            return;
        };
        self.first = self.lists[at].first;
        let second = self.next[self.first as usize];
        match second {
            NONE => self.empty(at),
            second => self.lists[at].first = second,
        }
    }

    /// The time, in slots, of a list that holds something.
    #[inline]
    fn slot_of(&self, at: usize) -> u64 {
        self.keys[self.lists[at].first as usize].time.as_nanos() >> self.shift
    }

    #[inline]
    fn empty(&mut self, at: usize) {
        self.lists[at] = EMPTY;
        let word = &mut self.taken[at / 64];
        *word &= !(1 << (at % 64));
        self.words &= !(u64::from(*word == 0) << (at / 64));
    }

    /// What is far and no more than a turn ahead gets into the wheel.
    #[inline(never)]
    fn bring_near(&mut self) {
        let mut at = std::mem::replace(&mut self.far, NONE);
        self.far_from = u64::MAX;
        while at != NONE {
            let next = self.next[at as usize];
            self.insert(at, self.keys[at as usize]);
            self.effort.far += 1;
            at = next;
        }
    }

    #[inline(never)]
    fn take_first_of_far(&mut self) {
        let (mut least, mut at) = (self.far, self.far);
        while at != NONE {
            if self.keys[at as usize].before(&self.keys[least as usize]) {
                least = at;
            }
            at = self.next[at as usize];
            self.effort.far += 1;
        }
        self.first = least;
        if least != NONE {
            self.take_out_of_far(least);
        }
    }

    fn take_out_of_far(&mut self, source: u32) {
        take_out(&mut self.far, &mut self.next, source);
        // That of others is a bound as before.
        if self.far == NONE {
            self.far_from = u64::MAX;
        }
    }

    /// Takes a source out of its list.
    #[inline(never)]
    fn unlink(&mut self, source: u32) {
        let slot = self.keys[source as usize].time.as_nanos() >> self.shift;
        let at = slot as usize % SLOTS;
        let list = &mut self.lists[at];
        match take_out(&mut list.first, &mut self.next, source) {
            // It is far, though its time may have come nearer.
            None => self.take_out_of_far(source),
            Some(_) if list.first == NONE => self.empty(at),
            Some(before) if list.last == source => list.last = before,
            Some(_) => {}
        }
    }

    /// Makes slots longer or shorter if that seems worth it.
    #[cold]
    #[inline(never)]
    fn think(&mut self) {
        let effort = std::mem::take(&mut self.effort);
        let many = 3 * effort.searches;
        let shift = match (effort.far > many, effort.near > many) {
            (true, _) => (self.shift + 1).min(LONGEST_SHIFT),
            (_, true) => self.shift.saturating_sub(1),
            _ => return,
        };
        let now = self.reached << self.shift;
        let mut fresh = Wheel {
            shift,
            reached: now >> shift,
            first: self.first,
            keys: std::mem::take(&mut self.keys),
            ..Wheel::new(self.next.len())
        };
        for source in 0..fresh.keys.len() {
            let key = fresh.keys[source];
            if key != IDLE && source as u32 != fresh.first {
                fresh.insert(source as u32, key);
            }
        }
        *self = fresh;
    }
}

/// Takes a source out of a list; says which was before it, if it was there.
fn take_out(list: &mut u32, next: &mut [u32], source: u32) -> Option<u32> {
    let (mut before, mut at) = (NONE, *list);
    while at != NONE && at != source {
        (before, at) = (at, next[at as usize]);
    }
    if at == NONE {
        return None;
    }
    match before {
        NONE => *list = next[source as usize],
        before => next[before as usize] = next[source as usize],
    }
    Some(before)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_first_is_the_least(
            sources in 1_usize..200,
            changes in prop::collection::vec((0_usize..200, 0_u32..34, any::<u64>(), 0_u8..8), 0..3000),
            shift in prop::option::of(0_u32..20),
        ) {
            let mut wheel = Wheel::new(sources / 2);
            wheel.grow(sources);
            wheel.shift = shift.unwrap_or(FIRST_SHIFT);
            let mut keys = vec![IDLE; sources];
            let mut now = Time::ZERO;
            for (order, (source, magnitude, random, what)) in changes.into_iter().enumerate() {
                let ahead = Time::from_nanos(random & ((1 << magnitude) - 1));
                let key = Key::new(now + ahead, order as u64);
                let (first, earliest) = wheel.first();
                let (source, key) = match what {
                    0 => (source % sources, IDLE),
                    1..4 => (source % sources, key),
                    // The first happens, and is due once more, or never.
                    _ => {
                        if earliest != IDLE {
                            now = earliest.time;
                            wheel.reach(now);
                        }
                        (first, if what == 4 { IDLE } else { Key::new(now + ahead, order as u64) })
                    }
                };
                wheel.set(source, key);
                keys[source] = key;
                if order % 1000 == 999 {
                    wheel.think();
                }
                let least = *keys.iter().min().unwrap();
                let (first, key) = wheel.first();
                prop_assert_eq!(key, least);
                prop_assert_eq!(wheel.key(first), least);
            }
        }
    }

    /// The length of slots follows what happens, either way.
    #[test]
    fn slots_are_as_long_as_is_good_for_them() {
        for (gap, shorter) in [(Time::from_nanos(1), true), (Time::from_secs(1), false)] {
            let mut wheel = Wheel::new(1000);
            for order in 0..200_000_u64 {
                let (source, key) = wheel.first();
                let source = if order < 1000 { order as usize } else { source };
                let now = if order < 1000 { Time::ZERO } else { key.time };
                wheel.reach(now);
                wheel.set(source, Key::new(now + gap * (order * 617 % 1000), order));
            }
            assert_ne!(wheel.shift, FIRST_SHIFT);
            assert_eq!(wheel.shift < FIRST_SHIFT, shorter);
        }
    }
}
