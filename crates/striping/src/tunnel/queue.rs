//! First-in-first-out queue of packets at the sending end of a tunnel.

use std::collections::VecDeque;

use ropewalk_wire::gateway::tunnel::{Delivery, Sequencing};

use super::lanes::Lanes;
use super::sender_types::Transmit;
use super::shrink::shrink;

#[derive(Debug)]
pub(super) struct Fifo<P> {
    packets: VecDeque<Queued<P>>,
    pub(super) bytes: u64,
}

#[derive(Debug)]
pub(super) struct Queued<P> {
    pub(super) packet: P,
    pub(super) bytes: u32,
    pub(super) lane: u8,
    pub(super) delivery: Delivery,
    /// Whether a copy of it is sent, if it is urgent.
    pub(super) is_copied: bool,
}

impl<P> Fifo<P> {
    pub(super) fn new() -> Fifo<P> {
        Fifo {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }

    pub(super) fn packets(&self) -> usize {
        self.packets.len()
    }

    pub(super) fn front(&self) -> Option<&Queued<P>> {
        self.packets.front()
    }

    pub(super) fn push(&mut self, packet: Queued<P>) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    pub(super) fn pop(&mut self) -> Option<Queued<P>> {
        let first = self.packets.pop_front()?;
        self.bytes -= u64::from(first.bytes);
        shrink(&mut self.packets);
        Some(first)
    }

    pub(super) fn drop_last(&mut self) -> Option<u64> {
        let bytes = u64::from(self.packets.pop_back()?.bytes);
        self.bytes -= bytes;
        shrink(&mut self.packets);
        Some(bytes)
    }
}

impl<P> Queued<P> {
    pub(super) fn on(self, link: usize, lanes: &mut Lanes) -> Transmit<P> {
        Transmit {
            link,
            sequencing: Sequencing {
                lane: self.lane,
                sequence: lanes.next(self.lane),
                delivery: self.delivery,
            },
            packet: self.packet,
            bytes: self.bytes,
        }
    }
}
