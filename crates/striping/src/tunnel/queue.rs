//! What waits at the beginning of a tunnel.

use std::collections::VecDeque;

use ropewalk_wire::gateway::tunnel::{Delivery, Place};

use super::lanes::Lanes;
use super::sending::Transmit;

/// Packets in their order.
#[derive(Debug)]
pub(super) struct Fifo<P> {
    pub(super) packets: VecDeque<Queued<P>>,
    pub(super) bytes: u64,
}

/// A packet that waits.
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

    pub(super) fn take(&mut self, link: usize, lanes: &mut Lanes) -> Transmit<P> {
        let first = self.packets.pop_front().expect("asked for before");
        self.bytes -= u64::from(first.bytes);
        Transmit {
            link,
            place: Place {
                lane: first.lane,
                sequence: lanes.next(first.lane),
                delivery: first.delivery,
            },
            packet: first.packet,
            bytes: first.bytes,
        }
    }
}
