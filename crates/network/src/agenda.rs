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
    /// Node 1 is the top, the children of node `n` are `2 n` and `2 n + 1`.
    nodes: Vec<Node>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    key: Key,
    source: u32,
}

impl Agenda {
    /// For so many sources, numbered from zero, all idle.
    pub fn new(sources: usize) -> Agenda {
        let leaves = sources.next_power_of_two();
        let idle = |node| Node {
            key: IDLE,
            source: (node % leaves) as u32,
        };
        Agenda {
            nodes: (0..2 * leaves).map(idle).collect(),
            leaves,
        }
    }

    /// Makes room for so many sources; those that were there keep their times.
    pub fn grow(&mut self, sources: usize) {
        if sources <= self.leaves {
            return;
        }
        let mut grown = Agenda::new(sources);
        for source in 0..self.leaves {
            grown.set(source, self.key(source));
        }
        *self = grown;
    }

    /// When the source is due.
    #[inline]
    pub fn key(&self, source: usize) -> Key {
        self.nodes[self.leaves + source].key
    }

    /// The source is due then, whatever was said before.
    #[inline]
    pub fn set(&mut self, source: usize, key: Key) {
        let mut winner = Node {
            key,
            source: source as u32,
        };
        let mut at = self.leaves + source;
        self.nodes[at] = winner;
        while at > 1 {
            let rival = self.nodes[at ^ 1];
            if rival.key.before(&winner.key) {
                winner = rival;
            }
            at /= 2;
            if self.nodes[at] == winner {
                // Nobody above hears of the change.
                return;
            }
            self.nodes[at] = winner;
        }
    }

    /// The earliest source, and when it is due.
    #[inline]
    pub fn first(&self) -> (usize, Key) {
        let top = &self.nodes[1];
        (top.source as usize, top.key)
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
