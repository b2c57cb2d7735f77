//! The queue at the sending end of a tunnel.

use std::collections::VecDeque;

use ropewalk_wire::gateway::tunnel::{Delivery, Sequencing};

use super::lanes::Lanes;
use super::sending::Transmit;

/// A queue of packets, first in, first out.
#[derive(Debug)]
pub(super) struct Fifo<P> {
    pub(super) packets: VecDeque<Queued<P>>,
    pub(super) bytes: u64,
}

/// A queued packet.
#[derive(Debug)]
pub(super) struct Queued<P> {
    pub(super) packet: P,
    pub(super) bytes: u32,
    pub(super) lane: u8,
    pub(super) delivery: Delivery,
}

impl<P> Fifo<P> {
    pub(super) fn new() -> Fifo<P> {
        Fifo {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Drops packets from the tail until at most `most` bytes are left; returns how many were dropped.
    pub(super) fn cut(&mut self, most: u64) -> u64 {
        let before = self.packets.len();
        while self.bytes > most {
            let Some(last) = self.packets.pop_back() else {
                break;
            };
            self.bytes -= u64::from(last.bytes);
        }
        (before - self.packets.len()) as u64
    }

    pub(super) fn take(&mut self, link: usize, lanes: &mut Lanes) -> Transmit<P> {
        let first = self.packets.pop_front().expect("asked for before");
        self.bytes -= u64::from(first.bytes);
        Transmit {
            link,
            sequencing: Sequencing {
                lane: first.lane,
                sequence: lanes.next(first.lane),
                delivery: first.delivery,
            },
            packet: first.packet,
            bytes: first.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_longest_stays() {
        let mut queue = Fifo::new();
        for packet in 0..5 {
            queue.bytes += 1000;
            queue.packets.push_back(Queued {
                packet,
                bytes: 1000,
                lane: 1,
                delivery: Delivery::InOrder,
            });
        }
        assert_eq!(queue.cut(5000), 0);
        assert_eq!(queue.cut(3500), 2);
        let mut lanes = Lanes::default();
        let left: Vec<_> = (0..3).map(|_| queue.take(0, &mut lanes).packet).collect();
        assert_eq!((left, queue.bytes), (vec![0, 1, 2], 0));
    }
}
