//! Packets of a lane that are ahead of order.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::mem::{self, size_of};

use super::Held;

/// A packet is put into the queue if it moves at most this many others.
const NEAR: usize = 64;
/// A queue with room for more is given less once it is a quarter full.
const SMALL: usize = 64;
/// The allocator's share of a packet's own memory, in bytes.
const ALLOCATION: usize = 32;

/// Packets by sequence: a sorted queue, since a packet usually belongs near an end of it, and a map of those that
/// would have to move many others.
#[derive(Debug)]
pub(super) struct Early<P> {
    queue: Queue<P>,
    map: BTreeMap<u64, Held<P>>,
}

/// A sorted queue.
pub(super) type Queue<P> = VecDeque<(u64, Held<P>)>;

impl<P> Early<P> {
    /// Memory of a packet besides its own bytes. A queue is a quarter full or more; nodes of a B-tree are five
    /// elevenths full, and others point to them.
    pub(super) const ENTRY: u64 = (4 * size_of::<(u64, Held<P>)>() + ALLOCATION) as u64;

    pub(super) fn new() -> Early<P> {
        Early {
            queue: VecDeque::new(),
            map: BTreeMap::new(),
        }
    }

    /// The first packet and its sequence.
    pub(super) fn first(&self) -> Option<(u64, &Held<P>)> {
        let queued = self.queue.front().map(|(sequence, held)| (*sequence, held));
        if self.map.is_empty() {
            return queued;
        }
        let mapped = self.map.first_key_value();
        let mapped = mapped.map(|(sequence, held)| (*sequence, held));
        let both = queued.into_iter().chain(mapped);
        both.min_by_key(|(sequence, _)| *sequence)
    }

    /// Adds a packet, unless its sequence is there already. An unused queue, if there is one, is taken from
    /// `spare`.
    pub(super) fn insert(
        &mut self,
        sequence: u64,
        held: Held<P>,
        spare: &mut Option<Queue<P>>,
    ) -> Result<(), Held<P>> {
        if self.queue.capacity() == 0 {
            self.queue = spare.take().unwrap_or_default();
        }
        let len = self.queue.len();
        let is_last = self.queue.back().is_none_or(|(last, _)| *last < sequence);
        let index = match is_last {
            true => len,
            false => match self.queue.binary_search_by_key(&sequence, |(of, _)| *of) {
                Ok(_) => return Err(held),
                Err(index) => index,
            },
        };
        if !self.map.is_empty() && self.map.contains_key(&sequence) {
            return Err(held);
        }
        if index.min(len - index) <= NEAR {
            self.queue.insert(index, (sequence, held));
        } else if let Entry::Vacant(place) = self.map.entry(sequence) {
            place.insert(held);
        }
        Ok(())
    }

    /// Takes the first packet. A queue that has become empty goes to `spare`, if there is none.
    pub(super) fn pop(&mut self, spare: &mut Option<Queue<P>>) -> Option<(u64, Held<P>)> {
        let mapped = self.map.first_key_value().map(|(sequence, _)| *sequence);
        let queued = self.queue.front().map(|(sequence, _)| *sequence);
        if mapped.is_some_and(|mapped| queued.is_none_or(|queued| mapped < queued)) {
            return self.map.pop_first();
        }
        let first = self.queue.pop_front();
        let room = self.queue.capacity();
        if room > SMALL && self.queue.len() < room / 4 {
            self.queue.shrink_to(room / 2);
        }
        if self.queue.is_empty() {
            let empty = mem::take(&mut self.queue);
            spare.get_or_insert(empty);
        }
        first
    }

    /// How many there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.queue.len() + self.map.len()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn held(packet: u64) -> Held<u64> {
        Held {
            packet,
            bytes: 0,
            sent: 0,
            arrived: 0,
            in_step: false,
        }
    }

    #[test]
    fn packets_far_from_both_ends_move_no_others() {
        let (mut early, mut spare) = (Early::new(), None);
        let evens = (0..20_000).map(|number| 2 * number);
        let odds = (0..20_000).rev().map(|number| 2 * number + 1);
        for sequence in evens.chain(odds) {
            assert!(early.insert(sequence, held(sequence), &mut spare).is_ok());
            assert!(early.insert(sequence, held(sequence), &mut spare).is_err());
        }
        assert!(early.map.len() > 19_000);
        for sequence in 0..40_000 {
            let (of, held) = early.pop(&mut spare).unwrap();
            assert_eq!((of, held.packet), (sequence, sequence));
            let room = early.queue.capacity();
            assert!(room <= SMALL.max(4 * early.queue.len() + 4), "{room}");
        }
        assert!(early.first().is_none() && early.queue.capacity() == 0);
        assert!(spare.unwrap().capacity() <= SMALL);
    }

    proptest! {
        #[test]
        fn it_is_as_a_map(steps in prop::collection::vec((0_u64..400, any::<bool>()), 1..600)) {
            let (mut early, mut spare, mut map) = (Early::new(), None, BTreeMap::new());
            for (sequence, pops) in steps {
                if pops && sequence < 130 {
                    let first = early.pop(&mut spare).map(|(sequence, _)| sequence);
                    prop_assert_eq!(first, map.pop_first().map(|(sequence, ())| sequence));
                } else {
                    let is_new = map.insert(sequence, ()).is_none();
                    let inserted = early.insert(sequence, held(sequence), &mut spare);
                    prop_assert_eq!(inserted.is_ok(), is_new);
                }
                let first = early.first().map(|(sequence, _)| sequence);
                prop_assert_eq!(first, map.first_key_value().map(|(sequence, ())| *sequence));
                prop_assert_eq!(early.len(), map.len());
            }
        }
    }
}
