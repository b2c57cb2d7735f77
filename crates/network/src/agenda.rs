//! What happens next: one entry for each source of events.

use ropewalk_quantities::Time;

/// When a source is due; equal times go by `order`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// When.
    pub time: Time,
    /// Counts what was scheduled.
    pub order: u64,
}

/// Never.
pub const IDLE: Key = Key {
    time: Time::MAX,
    order: u64::MAX,
};

impl Key {
    /// Due at this time, and among what is due then in this order.
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
/// A tournament: the sources are leaves, and each node above holds the earlier
/// of its two. Its size is the number of sources, however many packets are in
/// flight; a change is played again on the way up, and the winner stands at the top.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// By the source; as many as a power of two, and two at least.
    keys: Vec<Key>,
    /// Who won in each node. Node 1 is the top, below node `n` are `2 n` and `2 n + 1`, and below the
    /// last of them the sources by twos.
    winners: Vec<u32>,
    /// The winner of all.
    first: (u32, Key),
}

impl Agenda {
    /// For so many sources, numbered from zero, all idle.
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

    /// Makes room for so many sources; those that were there keep their times.
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

    /// For how many sources there is room.
    pub(crate) fn sources(&self) -> usize {
        self.keys.len()
    }

    /// When the source is due.
    #[inline]
    pub fn key(&self, source: usize) -> Key {
        self.keys[source]
    }

    /// The source is due then, whatever was said before.
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
                // Nobody above hears of the change.
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

    /// The earliest source, and when it is due.
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
