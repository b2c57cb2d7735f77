//! The agenda: the next event time of each source.

use ropewalk_quantities::Time;

/// When a source is due; `order` breaks ties.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Time.
    pub time: Time,
    /// Counts the scheduled events.
    pub order: u64,
}

/// Never.
pub const IDLE: Key = Key {
    time: Time::MAX,
    order: u64::MAX,
};

impl Key {
    /// A key with this time, and this place among equal times.
    #[inline]
    pub fn new(time: Time, order: u64) -> Key {
        Key { time, order }
    }

    /// Whether it comes before the other.
    #[inline]
    pub fn before(&self, other: &Key) -> bool {
        self.time < other.time || (self.time == other.time && self.order < other.order)
    }
}

/// The next time of each source, and the earliest of them.
///
/// A tournament tree: the sources are leaves, and each inner node holds the earlier of its two children. Its
/// size is the number of sources, however many packets are in flight; a change is compared on the path to the
/// root, where the winner is.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// Indexed by source; padded to a power of two, at least two.
    keys: Vec<Key>,
    /// Winner of each node. Node 1 is the root, the children of node `n` are `2 n` and `2 n + 1`, and those
    /// of the last nodes are pairs of sources.
    winners: Vec<u32>,
    /// The overall winner.
    first: (u32, Key),
}

impl Agenda {
    /// For this many sources, numbered from zero, all idle.
    pub fn new(sources: usize) -> Agenda {
        let leaves = sources.next_power_of_two().max(2);
        Agenda {
            keys: vec![IDLE; leaves],
            winners: (0..leaves as u32)
                .map(|node| first_below(node, leaves))
                .collect(),
            first: (0, IDLE),
        }
    }

    /// Makes room for this many sources; existing ones keep their times.
    pub fn grow(&mut self, sources: usize) {
        if sources <= self.keys.len() {
            return;
        }
        let mut grown = Agenda::new(sources);
        for (source, key) in self.keys.iter().enumerate() {
            grown.set(source, *key);
        }
        *self = grown;
    }

    /// Number of sources that there is room for.
    pub(crate) fn sources(&self) -> usize {
        self.keys.len()
    }

    /// When the source is due.
    #[inline]
    pub fn key(&self, source: usize) -> Key {
        self.keys[source]
    }

    /// Sets when the source is due.
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
                // The change does not affect the nodes above.
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

    /// The earliest source, with its key.
    #[inline]
    pub fn first(&self) -> (usize, Key) {
        let (source, key) = self.first;
        (source as usize, key)
    }
}

/// The first of the sources below a node, which wins while all are idle.
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
            let mut agenda = Agenda::new(sources);
            let mut keys = vec![IDLE; sources];
            for (source, time, order) in changes {
                let source = source % sources;
                // A source's order makes its key unique, as the run loop's counter does.
                let key = if time == 19 {
                    IDLE
                } else {
                    Key::new(Time::from_nanos(time), order * 100 + source as u64)
                };
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
