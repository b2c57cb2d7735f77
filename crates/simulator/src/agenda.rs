//! What happens next: one entry per link direction, endpoint and application.

use ropewalk_quantities::Time;

/// Up to so many sources a scan over all is faster than a heap.
const SCAN: usize = 16;
/// Children of a heap node; 4 keys of 16 bytes fill a cache line.
const ARITY: usize = 4;

/// When a source is due; equal times go by `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) time: Time,
    pub(crate) order: u64,
}

/// Never.
pub(crate) const IDLE: Key = Key {
    time: Time::MAX,
    order: u64::MAX,
};

impl Key {
    #[inline]
    pub(crate) fn new(time: Time, order: u64) -> Key {
        Key { time, order }
    }
}

/// The next time of each source, and the earliest of them.
///
/// Its size is the number of sources, however many packets are in flight. Few
/// sources are scanned; many stand in a 4-ary heap that knows where each is.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    keys: Vec<Key>,
    /// Heap of sources, and each one's place in it; both empty while they are scanned.
    heap: Vec<u32>,
    place: Vec<u32>,
}

impl Agenda {
    pub(crate) fn new(sources: usize) -> Agenda {
        let heap: Vec<u32> = if sources > SCAN {
            (0..sources as u32).collect()
        } else {
            Vec::new()
        };
        Agenda {
            keys: vec![IDLE; sources],
            place: heap.clone(),
            heap,
        }
    }

    /// When the source is due.
    #[inline]
    pub(crate) fn key(&self, source: usize) -> Key {
        self.keys[source]
    }

    /// The source is due then, whatever was said before.
    #[inline]
    pub(crate) fn set(&mut self, source: usize, key: Key) {
        let before = std::mem::replace(&mut self.keys[source], key);
        if !self.heap.is_empty() {
            let place = self.place[source] as usize;
            if key < before {
                self.rise(place);
            } else if key > before {
                self.sink(place);
            }
        }
    }

    /// The earliest source, and when it is due.
    #[inline]
    pub(crate) fn first(&self) -> (usize, Key) {
        if let Some(&top) = self.heap.first() {
            return (top as usize, self.keys[top as usize]);
        }
        // The earliest time without a branch, then the few that share it by their order.
        let mut first = 0;
        let mut least = self.keys[0].time;
        for (source, key) in self.keys.iter().enumerate() {
            let earlier = key.time < least;
            least = if earlier { key.time } else { least };
            first = if earlier { source } else { first };
        }
        for (source, key) in self.keys.iter().enumerate().skip(first + 1) {
            if key.time == least && key.order < self.keys[first].order {
                first = source;
            }
        }
        (first, self.keys[first])
    }

    fn rise(&mut self, mut place: usize) {
        let source = self.heap[place];
        let key = self.keys[source as usize];
        while place > 0 {
            let parent = (place - 1) / ARITY;
            let above = self.heap[parent];
            if self.keys[above as usize] <= key {
                break;
            }
            self.put(place, above);
            place = parent;
        }
        self.put(place, source);
    }

    fn sink(&mut self, mut place: usize) {
        let source = self.heap[place];
        let key = self.keys[source as usize];
        loop {
            let children = place * ARITY + 1..(place * ARITY + 1 + ARITY).min(self.heap.len());
            let Some(child) = children.min_by_key(|&child| self.keys[self.heap[child] as usize])
            else {
                break;
            };
            let below = self.heap[child];
            if self.keys[below as usize] >= key {
                break;
            }
            self.put(place, below);
            place = child;
        }
        self.put(place, source);
    }

    #[inline]
    fn put(&mut self, place: usize, source: u32) {
        self.heap[place] = source;
        self.place[source as usize] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_least(
            sources in 1usize..60,
            changes in prop::collection::vec((0usize..60, 0u64..20, 0u64..5), 0..300),
        ) {
            let mut agenda = Agenda::new(sources);
            let mut keys = vec![IDLE; sources];
            for (source, time, order) in changes {
                let source = source % sources;
                // A source's order makes its key unique, as the run loop's counter does.
                let key = if time == 19 { IDLE } else { Key::new(Time::from_nanos(time), order * 100 + source as u64) };
                agenda.set(source, key);
                keys[source] = key;
                let least = *keys.iter().min().unwrap();
                let (first, key) = agenda.first();
                prop_assert_eq!(key, least);
                prop_assert_eq!(agenda.key(first), least);
            }
        }
    }
}
