//! A timing wheel: next event times of many sources.
//!
//! Unlike in a [timer tree](crate::timer_tree), the cost of a change does not grow with the number of sources. A
//! source that is due within one turn of the wheel is in the list of its slot; all others are in one list
//! of far sources. The list of a slot is sorted: similar links are due at exactly the same times, and a new
//! source usually comes last. The slot length adapts: shorter if lists are long, longer if many sources are
//! far.

use ropewalk_quantities::Time;

use crate::timer_tree::{IDLE, Key};

/// Number of slots: one bit each in 64 words, and one bit for each word.
const SLOTS: usize = 64 * 64;

/// End of a list.
const NONE: u32 = u32::MAX;

/// Initial and maximum slot length in nanoseconds, as a power of two.
const FIRST_SHIFT: u32 = 12;
const LONGEST_SHIFT: u32 = 40;

/// Next event time of each source, and the earliest; times are never before the [reached](Wheel::reach)
/// one.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    keys: Vec<Key>,
    /// Next source in the same list, by source.
    next: Vec<u32>,
    lists: Vec<List>,
    /// Slots with a non-empty list, and the non-zero words of these bits.
    occupied: [u64; 64],
    words: u64,
    /// Sources that were more than a turn ahead, and a lower bound of their times in slots.
    far: u32,
    far_from: u64,
    /// Earliest source; it is in no list.
    first: u32,
    /// Time in slots before which nothing is due.
    reached: u64,
    shift: u32,
    effort: Effort,
}

/// Sources of a slot, sorted by time.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

const EMPTY: List = List {
    first: NONE,
    last: NONE,
};

/// Work since the last review of the slot length.
#[derive(Clone, Copy, Debug, Default)]
struct Effort {
    searches: usize,
    /// Sources passed in the lists of slots, and examined in the far list.
    near: usize,
    far: usize,
}

impl Wheel {
    pub(crate) fn new(sources: usize) -> Wheel {
        Wheel {
            keys: vec![IDLE; sources],
            next: vec![NONE; sources],
            lists: vec![EMPTY; SLOTS],
            occupied: [0; 64],
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

    /// Advances the wheel: nothing will be due before `now`.
    #[inline]
    pub(crate) fn reach(&mut self, now: Time) {
        self.reached = self.reached.max(now.as_nanos() >> self.shift);
    }

    /// Sets the next event time of a source. Not inlined, for users with few sources.
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
            self.occupied[at / 64] |= 1 << (at % 64);
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

    /// Inserts a source in a list behind those due before it; there is at least one on either side.
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

    /// Returns the first slot with a non-empty list, from the reached time on.
    #[inline]
    fn first_occupied(&self) -> Option<usize> {
        let from = self.reached as usize % SLOTS;
        let (word, bit) = (from / 64, from % 64);
        let here = self.occupied[word] >> bit << bit;
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // Words after this one, then from the start up to it: its earlier bits are a turn ahead.
        let behind = self.words & !(u64::MAX >> (63 - word));
        let words = if behind != 0 { behind } else { self.words };
        if words == 0 {
            return None;
        }
        let word = words.trailing_zeros() as usize;
        Some(word * 64 + self.occupied[word].trailing_zeros() as usize)
    }

    /// Removes the earliest source from its list.
    #[inline]
    fn find_first(&mut self) {
        self.effort.searches += 1;
        if self.effort.searches > self.keys.len() + SLOTS {
            self.adapt_slots();
        }
        let mut at = self.first_occupied();
        if self.far != NONE && at.is_none_or(|at| self.far_from <= self.slot_of(at)) {
            self.admit_far_sources();
            at = self.first_occupied();
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

    /// Returns the time of a non-empty list, in slots.
    #[inline]
    fn slot_of(&self, at: usize) -> u64 {
        self.keys[self.lists[at].first as usize].time.as_nanos() >> self.shift
    }

    #[inline]
    fn empty(&mut self, at: usize) {
        self.lists[at] = EMPTY;
        let word = &mut self.occupied[at / 64];
        *word &= !(1 << (at % 64));
        self.words &= !(u64::from(*word == 0) << (at / 64));
    }

    /// Moves far sources that are at most a turn ahead into the wheel.
    #[inline(never)]
    fn admit_far_sources(&mut self) {
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
        remove_from_list(&mut self.far, &mut self.next, source);
        // The remaining lower bound is still valid.
        if self.far == NONE {
            self.far_from = u64::MAX;
        }
    }

    #[inline(never)]
    fn unlink(&mut self, source: u32) {
        let slot = self.keys[source as usize].time.as_nanos() >> self.shift;
        let at = slot as usize % SLOTS;
        let list = &mut self.lists[at];
        match remove_from_list(&mut list.first, &mut self.next, source) {
            // The source is in the far list, although its time may be within a turn by now.
            None => self.take_out_of_far(source),
            Some(_) if list.first == NONE => self.empty(at),
            Some(before) if list.last == source => list.last = before,
            Some(_) => {}
        }
    }

    #[cold]
    #[inline(never)]
    fn adapt_slots(&mut self) {
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

/// Removes a source from a list; returns its predecessor, if it was in the list.
fn remove_from_list(list: &mut u32, next: &mut [u32], source: u32) -> Option<u32> {
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
                    wheel.adapt_slots();
                }
                let least = *keys.iter().min().unwrap();
                let (first, key) = wheel.first();
                prop_assert_eq!(key, least);
                prop_assert_eq!(wheel.key(first), least);
            }
        }
    }

    /// Far sources count as work, since slots become longer if many sources are far.
    #[test]
    fn far_sources_enter_the_wheel_and_are_counted() {
        let at = |slot: u64| Key::new(Time::from_nanos(slot << FIRST_SHIFT), slot);
        let turn = SLOTS as u64;
        let mut wheel = Wheel::new(6);
        wheel.set(0, at(20));
        for source in 1..6 {
            wheel.set(source, at(turn + 10 + source as u64));
        }
        assert_eq!(wheel.effort.far, 0);
        wheel.reach(at(20).time);
        wheel.set(0, at(turn + 16));
        assert_eq!(wheel.first(), (1, at(turn + 11)));
        assert_eq!((wheel.effort.far, wheel.far), (5, NONE));
    }

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
