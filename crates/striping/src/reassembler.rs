//! The receiver's buffer, in which packets wait for those before them.

use std::collections::BTreeMap;

use crate::Header;

/// Puts packets in order again, in bounded memory.
///
/// The next packet in order always finds room. One that comes early and finds none stays on its
/// connection, whose flow control then slows its sender; since the packets of a connection are in
/// order, the one that is missing is at the head of another, and can never be stuck behind it.
#[derive(Clone, Debug)]
pub struct Reassembler {
    /// Number of the next packet in order.
    next: u64,
    /// Lengths of those that came early, by their numbers.
    early: BTreeMap<u64, u32>,
    /// Bytes of payload that wait in `early`.
    held: u64,
    held_max: u64,
    capacity: u64,
    delivered: u64,
    packets: u64,
    out_of_order: u64,
}

impl Reassembler {
    /// Early packets, headers included, take at most `capacity` bytes.
    #[must_use]
    pub fn new(capacity: u64) -> Reassembler {
        Reassembler {
            next: 0,
            early: BTreeMap::new(),
            held: 0,
            held_max: 0,
            capacity,
            delivered: 0,
            packets: 0,
            out_of_order: 0,
        }
    }

    /// A packet came: how many bytes that puts in order. `None` if there is no room for it yet:
    /// offer it again when others are delivered.
    pub fn insert(&mut self, sequence: u32, len: u32) -> Option<u64> {
        // Numbers are compared over half of their range; what is behind has been delivered.
        let ahead = sequence.wrapping_sub(self.next as u32) as i32;
        if ahead < 0 {
            return Some(0);
        }
        if ahead > 0 {
            let number = self.next + ahead as u64;
            if self.early.contains_key(&number) {
                return Some(0);
            }
            let headers = Header::LEN * (self.early.len() as u64 + 1);
            if self.held + u64::from(len) + headers > self.capacity {
                return None;
            }
            self.early.insert(number, len);
            self.held += u64::from(len);
            self.held_max = self.held_max.max(self.held);
            self.packets += 1;
            self.out_of_order += 1;
            return Some(0);
        }
        self.packets += 1;
        self.next += 1;
        let mut new = u64::from(len);
        while let Some(len) = self.early.remove(&self.next) {
            self.next += 1;
            self.held -= u64::from(len);
            new += u64::from(len);
        }
        self.delivered += new;
        Some(new)
    }

    /// Bytes delivered in order so far.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes of payload that wait for a packet before them.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Most bytes of payload that ever waited.
    #[must_use]
    pub fn held_max(&self) -> u64 {
        self.held_max
    }

    /// From now on, [`held_max`](Reassembler::held_max) tells of what is to come.
    pub fn restart_held_max(&mut self) {
        self.held_max = self.held;
    }

    /// Packets that came, and those of them that had to wait for another.
    #[must_use]
    pub fn packets(&self) -> (u64, u64) {
        (self.packets, self.out_of_order)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Packet, Splitter};
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn early_packets_wait() {
        let mut reassembler = Reassembler::new(10_000);
        assert_eq!(reassembler.insert(1, 200), Some(0));
        assert_eq!(reassembler.insert(2, 300), Some(0));
        assert_eq!((reassembler.held(), reassembler.held_max()), (500, 500));
        assert_eq!(reassembler.insert(0, 100), Some(600));
        assert_eq!((reassembler.held(), reassembler.delivered()), (0, 600));
        assert_eq!(reassembler.packets(), (3, 2));
        reassembler.restart_held_max();
        assert_eq!(reassembler.held_max(), 0);
    }

    #[test]
    fn what_came_before_counts_for_nothing() {
        let mut reassembler = Reassembler::new(10_000);
        assert_eq!(reassembler.insert(0, 100), Some(100));
        assert_eq!(reassembler.insert(0, 100), Some(0));
        assert_eq!(reassembler.insert(2, 100), Some(0));
        assert_eq!(reassembler.insert(2, 100), Some(0));
        assert_eq!((reassembler.held(), reassembler.packets()), (100, (2, 1)));
    }

    #[test]
    fn a_full_buffer_takes_the_next_alone() {
        let mut reassembler = Reassembler::new(2 * 108);
        assert_eq!(reassembler.insert(1, 100), Some(0));
        assert_eq!(reassembler.insert(3, 100), Some(0));
        assert_eq!(reassembler.insert(2, 1), None);
        assert_eq!(reassembler.insert(0, 100), Some(200));
        assert_eq!(reassembler.insert(2, 1), Some(101));
    }

    #[test]
    fn numbers_wrap() {
        let mut reassembler = Reassembler::new(10_000);
        reassembler.next = u64::from(u32::MAX);
        assert_eq!(reassembler.insert(0, 20), Some(0));
        assert_eq!(reassembler.insert(u32::MAX - 1, 5), Some(0));
        assert_eq!(reassembler.insert(u32::MAX, 10), Some(30));
        assert_eq!(reassembler.insert(u32::MAX, 10), Some(0));
        assert_eq!(reassembler.insert(1, 40), Some(40));
    }

    proptest! {
        /// Packets are dealt out to connections and come from them in any interleaving.
        #[test]
        fn any_interleaving_delivers_each_packet_once_and_in_order(
            bytes in 1u64..200_000,
            full in 1u32..3000,
            connections in 1usize..6,
            capacity in 0u64..20_000,
            deal in prop::collection::vec(any::<prop::sample::Index>(), 1..50),
            draw in prop::collection::vec(any::<prop::sample::Index>(), 1..50),
        ) {
            let mut splitter = Splitter::new(1, full.max(bytes as u32 / 200), bytes);
            prop_assert_eq!(splitter.write(bytes), bytes);
            let mut lanes: Vec<VecDeque<Packet>> = vec![VecDeque::new(); connections];
            for turn in 0.. {
                let Some(packet) = splitter.cut() else { break };
                lanes[deal[turn % deal.len()].index(connections)].push_back(packet);
            }
            let mut reassembler = Reassembler::new(capacity);
            let mut delivered = 0;
            for turn in 0.. {
                if lanes.iter().all(VecDeque::is_empty) {
                    break;
                }
                // Any lane may come first; of those that follow, one always finds room.
                let first = draw[turn % draw.len()].index(connections);
                let taken = (first..connections).chain(0..first).find_map(|lane| {
                    let packet = lanes[lane].front()?;
                    let new = reassembler.insert(packet.header.sequence, packet.len)?;
                    lanes[lane].pop_front();
                    Some(new)
                });
                prop_assert!(taken.is_some(), "stuck");
                delivered += taken.unwrap_or(0);
                prop_assert!(reassembler.held() <= capacity);
                prop_assert_eq!(reassembler.delivered(), delivered);
            }
            prop_assert_eq!(delivered, bytes);
            prop_assert_eq!(reassembler.held(), 0);
        }
    }
}
