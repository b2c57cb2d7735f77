//! The packets in flight on a link, kept for retransmission.

use std::collections::VecDeque;

use ropewalk_wire::gateway::tunnel::{Feedback, Sequencing};

/// A packet that was sent, with what its retransmission needs.
#[derive(Clone, Debug)]
pub(super) struct Packet<P> {
    pub(super) packet: P,
    pub(super) bytes: u32,
    pub(super) sequencing: Sequencing,
    /// How often it was sent.
    pub(super) tries: u8,
}

/// A packet that was lost this often is left to the connection inside.
const MAX_TRIES: u8 = 6;

/// Packets of a link, by the sequence of their datagrams.
#[derive(Debug)]
pub(super) struct RetransmitBuffer<P> {
    packets: VecDeque<(u64, Option<Packet<P>>)>,
}

impl<P> Default for RetransmitBuffer<P> {
    fn default() -> RetransmitBuffer<P> {
        RetransmitBuffer {
            packets: VecDeque::new(),
        }
    }
}

impl<P> RetransmitBuffer<P> {
    /// A packet was sent in the datagram of this sequence.
    pub(super) fn put(&mut self, sequence: u64, packet: Packet<P>) {
        if packet.tries < MAX_TRIES {
            self.packets.push_back((sequence, Some(packet)));
        }
    }

    /// Passes the packets that the receiver reports missing to `lost`, in order, and drops those that
    /// arrived.
    pub(super) fn settle(&mut self, feedback: &Feedback, mut lost: impl FnMut(Packet<P>)) {
        for gap in feedback.missing.gaps() {
            let end = gap.first.saturating_add(u64::from(gap.count));
            let first = self.packets.partition_point(|&(at, _)| at < gap.first);
            let of_gap = self.packets.range_mut(first..);
            for (_, packet) in of_gap.take_while(|(at, _)| *at < end) {
                packet.take().map(&mut lost);
            }
        }
        let arrived = feedback.settled.min(feedback.highest.saturating_add(1));
        while self
            .packets
            .front()
            .is_some_and(|&(at, ref packet)| at < arrived || packet.is_none())
        {
            self.packets.pop_front();
        }
    }

    /// Whether nothing is in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// All that is in flight, in order: the link is suspected of being down.
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = Packet<P>> + '_ {
        self.packets.drain(..).filter_map(|(_, packet)| packet)
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
    fn what_is_missing_comes_back_once_and_what_arrived_is_forgotten() {
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
    fn what_is_lost_again_and_again_is_not_kept() {
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
