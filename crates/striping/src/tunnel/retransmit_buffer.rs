//! Packets in flight on a link, kept for retransmission.

use std::collections::VecDeque;
use std::mem::{self, size_of};

use ropewalk_wire::gateway::tunnel::{Feedback, Sequencing};

use super::shrink::shrink;

#[derive(Clone, Debug)]
pub(super) struct Packet<P> {
    pub(super) packet: P,
    pub(super) bytes: u32,
    pub(super) sequencing: Sequencing,
    pub(super) tries: u8,
}

impl<P> Packet<P> {
    /// Returns its memory, with an allocation of its own and its places in queues that are half full.
    fn memory(&self) -> u64 {
        const ALLOCATIONS: usize = 160;
        u64::from(self.bytes) + (2 * size_of::<(u64, Kept<P>)>() + ALLOCATIONS) as u64
    }
}

/// Limit of the packets kept for all links of a sender, in bytes of memory.
pub(super) const MAX_KEPT: u64 = 12 << 20;
/// A packet that was lost this often is left to the connection inside.
const MAX_TRIES: u8 = 6;

/// Limit of queued retransmissions up to which a lost urgent packet is kept.
pub(super) const MAX_URGENT_REPAIRS: usize = 1024;

/// Packets of a link, by the sequence of their datagrams.
#[derive(Debug)]
pub(super) struct RetransmitBuffer<P> {
    packets: VecDeque<(u64, Kept<P>)>,
    pub(super) memory: u64,
}

#[derive(Debug)]
enum Kept<P> {
    Packet(Packet<P>),
    /// It was reported missing, and so were those up to this many places further. A peer may report them
    /// again and again.
    Missing(u32),
}

impl<P> Default for RetransmitBuffer<P> {
    fn default() -> RetransmitBuffer<P> {
        RetransmitBuffer {
            packets: VecDeque::new(),
            memory: 0,
        }
    }
}

impl<P> RetransmitBuffer<P> {
    pub(super) fn put(&mut self, sequence: u64, packet: Packet<P>) {
        if packet.tries < MAX_TRIES {
            self.memory += packet.memory();
            self.packets.push_back((sequence, Kept::Packet(packet)));
        }
    }

    pub(super) fn drop_oldest(&mut self) {
        if let Some((_, Kept::Packet(packet))) = self.packets.pop_front() {
            self.memory -= packet.memory();
        }
    }

    /// Passes the packets that the receiver reports missing to `lost`, in order, and drops those that
    /// arrived.
    pub(super) fn settle(&mut self, feedback: &Feedback, mut lost: impl FnMut(Packet<P>)) {
        for gap in feedback.missing.gaps() {
            let end = gap.first.saturating_add(u64::from(gap.count));
            let first = self.packets.partition_point(|&(at, _)| at < gap.first);
            let mut past = first;
            while let Some((at, kept)) = self.packets.get_mut(past)
                && *at < end
            {
                match mem::replace(kept, Kept::Missing(1)) {
                    Kept::Packet(packet) => {
                        self.memory -= packet.memory();
                        lost(packet);
                        past += 1;
                    }
                    Kept::Missing(further) => past += further as usize,
                }
            }
            // All of them lead past the gap now.
            let mut index = first;
            while index < past
                && let Some((_, Kept::Missing(further))) = self.packets.get_mut(index)
            {
                let next = index + *further as usize;
                *further = (past - index) as u32;
                index = next;
            }
        }
        let arrived = feedback.settled.min(feedback.highest.saturating_add(1));
        while self
            .packets
            .front()
            .is_some_and(|(at, kept)| *at < arrived || matches!(kept, Kept::Missing(_)))
        {
            self.drop_oldest();
        }
        shrink(&mut self.packets);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Removes all packets, in order: the link is suspected of being down.
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = Packet<P>> + use<P> {
        let all = mem::take(self).packets;
        all.into_iter().filter_map(|(_, kept)| match kept {
            Kept::Packet(packet) => Some(packet),
            Kept::Missing(_) => None,
        })
    }
}

/// Lost packets, in the order of their retransmission.
#[derive(Debug)]
pub(super) struct Repairs<P> {
    packets: VecDeque<Packet<P>>,
    pub(super) memory: u64,
}

impl<P> Repairs<P> {
    pub(super) fn new() -> Repairs<P> {
        Repairs {
            packets: VecDeque::new(),
            memory: 0,
        }
    }

    /// Adds a lost packet. Urgent ones come first, and are dropped if too many are queued.
    pub(super) fn push(&mut self, packet: Packet<P>) {
        let is_urgent = packet.sequencing.lane == 0;
        if is_urgent && self.packets.len() >= MAX_URGENT_REPAIRS {
            return;
        }
        self.memory += packet.memory();
        match is_urgent {
            true => self.packets.push_front(packet),
            false => self.packets.push_back(packet),
        }
    }

    pub(super) fn front(&self) -> Option<&Packet<P>> {
        self.packets.front()
    }

    pub(super) fn pop(&mut self) -> Option<Packet<P>> {
        let packet = self.packets.pop_front()?;
        self.memory -= packet.memory();
        shrink(&mut self.packets);
        Some(packet)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn clear(&mut self) {
        *self = Repairs::new();
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_wire::gateway::tunnel::{Delivery, Gap};

    use super::*;

    fn buffer(sequences: &[u64]) -> RetransmitBuffer<u64> {
        let mut buffer = RetransmitBuffer::default();
        for &sequence in sequences {
            let sequencing = Sequencing {
                lane: 1,
                sequence: sequence as u32,
                delivery: Delivery::InStep,
            };
            let packet = Packet {
                packet: sequence,
                bytes: 1000,
                sequencing,
                tries: 1,
            };
            buffer.put(sequence, packet);
        }
        buffer
    }

    fn lost(
        buffer: &mut RetransmitBuffer<u64>,
        highest: u64,
        settled: u64,
        gaps: &[(u64, u16)],
    ) -> Vec<u64> {
        let mut feedback = Feedback {
            highest,
            settled,
            ..Feedback::default()
        };
        for &(first, count) in gaps {
            feedback.missing.push(Gap { first, count });
        }
        let mut lost = Vec::new();
        buffer.settle(&feedback, |packet| lost.push(packet.packet));
        lost
    }

    #[test]
    fn missing_packets_return_once_and_arrived_ones_are_dropped() {
        // Feedback and pings have sequences, too; two packets share a datagram.
        let mut buffer = buffer(&[0, 1, 3, 3, 4, 7, 8]);
        assert_eq!(lost(&mut buffer, 4, 1, &[(1, 1), (3, 1)]), [1, 3, 3]);
        assert_eq!(lost(&mut buffer, 7, 1, &[(1, 1), (3, 1)]), []);
        assert_eq!(lost(&mut buffer, 7, 5, &[]), []);
        assert_eq!(
            buffer.give_up().map(|p| p.packet).collect::<Vec<_>>(),
            [7, 8]
        );
    }

    #[test]
    fn repeated_gaps_are_skipped() {
        let all: Vec<u64> = (0..1000).collect();
        let mut buffer = buffer(&all);
        assert_eq!(lost(&mut buffer, 999, 0, &[(100, 200)]), all[100..300]);
        assert_eq!(lost(&mut buffer, 999, 0, &[(500, 300)]), all[500..800]);
        assert_eq!(
            lost(&mut buffer, 999, 0, &[(50, 300)]),
            [&all[50..100], &all[300..350]].concat()
        );
        for index in [50, 99, 100, 300, 349] {
            let Kept::Missing(further) = buffer.packets[index].1 else {
                panic!("{index} is not missing");
            };
            assert_eq!(index + further as usize, 350);
        }
        assert_eq!(
            lost(&mut buffer, 999, 0, &[(120, 2000)]),
            [&all[350..500], &all[800..]].concat()
        );
        assert_eq!(
            lost(&mut buffer, 999, 0, &[(0, 2000), (60, 2000)]),
            all[..50]
        );
        assert_eq!((buffer.memory, buffer.packets.len()), (0, 0));
    }

    #[test]
    fn repeatedly_lost_packet_is_dropped() {
        let mut buffer = buffer(&[]);
        let sequencing = Sequencing {
            lane: 1,
            sequence: 0,
            delivery: Delivery::InStep,
        };
        buffer.put(
            0,
            Packet {
                packet: 0,
                bytes: 1,
                sequencing,
                tries: MAX_TRIES,
            },
        );
        assert_eq!(buffer.give_up().count(), 0);
    }
}
