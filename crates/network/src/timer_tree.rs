//! Tournament tree of the next event time of each source.

use ropewalk_quantities::Time;

/// Time of an event; `order` breaks ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Event time.
    pub time: Time,
    /// Number of the event in the order of scheduling.
    pub order: u64,
}

/// Key of an idle source: never due.
pub const IDLE: Key = Key {
    time: Time::MAX,
    order: u64::MAX,
};

impl Key {
    /// Returns the key of event number `order` at `time`.
    #[inline]
    pub fn new(time: Time, order: u64) -> Key {
        Key { time, order }
    }

    /// Returns whether this event comes before the other.
    #[inline]
    pub fn before(&self, other: &Key) -> bool {
        self.time < other.time || (self.time == other.time && self.order < other.order)
    }
}

/// Next event time of each source, as a tournament tree.
///
/// Sources are leaves, and each inner node holds the earlier of its two children. A change is compared on
/// the path to the root. The size depends on the number of sources, not on the packets in flight.
#[derive(Clone, Debug)]
pub struct TimerTree {
    /// Indexed by source; padded to a power of two, at least two.
    keys: Vec<Key>,
    /// Winner of each node. Node 1 is the root; the children of node `n` are `2 n` and `2 n + 1`. The
    /// children of the last nodes are pairs of sources.
    winners: Vec<u32>,
    first: (u32, Key),
}

impl TimerTree {
    /// Creates a tree of this many idle sources, numbered from zero.
    pub fn new(sources: usize) -> TimerTree {
        let leaves = sources.next_power_of_two().max(2);
        TimerTree {
            keys: vec![IDLE; leaves],
            winners: (0..leaves as u32)
                .map(|node| first_below(node, leaves))
                .collect(),
            first: (0, IDLE),
        }
    }

    /// Extends the tree to this many sources; existing ones keep their times.
    pub fn grow(&mut self, sources: usize) {
        if sources <= self.keys.len() {
            return;
        }
        let mut grown = TimerTree::new(sources);
        for (source, key) in self.keys.iter().enumerate() {
            grown.set(source, *key);
        }
        *self = grown;
    }

    pub(crate) fn sources(&self) -> usize {
        self.keys.len()
    }

    /// Returns the next event time of a source.
    #[inline]
    pub fn key(&self, source: usize) -> Key {
        self.keys[source]
    }

    /// Sets the next event time of a source.
    #[inline]
    pub fn set(&mut self, source: usize, key: Key) {
        self.keys[source] = key;
        let (mut winner, mut earliest) = (source, key);
        let mut rival = source ^ 1;
        let mut node = (self.keys.len() + source) / 2;
        loop {
            let other = &self.keys[rival];
            if other.before(&earliest) {
                (winner, earliest) = (rival, *other);
            }
            let before = &mut self.winners[node];
            if *before == winner as u32 && winner != source {
                return;
            }
            *before = winner as u32;
            if node == 1 {
                break;
            }
            rival = self.winners[node ^ 1] as usize;
            node /= 2;
        }
        self.first = (winner as u32, earliest);
    }

    /// Returns the earliest source and its key.
    #[inline]
    pub fn first(&self) -> (usize, Key) {
        let (source, key) = self.first;
        (source as usize, key)
    }
}

/// Returns the first source below a node, which wins while all are idle.
fn first_below(node: u32, leaves: usize) -> u32 {
    match node {
        0 => 0,
        _ => (node << (leaves.ilog2() - node.ilog2())) - leaves as u32,
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
            let mut timer_tree = TimerTree::new(sources);
            let mut keys = vec![IDLE; sources];
            for (source, time, order) in changes {
                let source = source % sources;
                // A source's order makes its key unique, as the run loop's counter does.
                let key = if time == 19 {
                    IDLE
                } else {
                    Key::new(Time::from_nanos(time), order * 100 + source as u64)
                };
                timer_tree.set(source, key);
                keys[source] = key;
                let least = *keys.iter().min().unwrap();
                let (first, key) = timer_tree.first();
                prop_assert_eq!(key, least);
                prop_assert_eq!(timer_tree.key(first), least);
            }
        }
    }
}
