//! Queue of captured packets until their fate is known.

use std::collections::VecDeque;

use ropewalk_quantities::Time;

use crate::flow::Sent;
use crate::record::Direction;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Open,
    Arrived,
    /// Its receiver already had its data.
    Spurious,
    /// The queue of this link was full.
    Dropped(usize),
    Lost(usize),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingPacket {
    pub(crate) time: Time,
    pub(crate) interface: usize,
    pub(crate) direction: Direction,
    pub(crate) flow: usize,
    pub(crate) sent: Sent,
    pub(crate) fate: Fate,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticket(Option<u64>);

#[derive(Debug, Default)]
pub(crate) struct PendingPackets {
    waiting: VecDeque<PendingPacket>,
    /// Number of packets written, which is the number of the first queued one.
    written: u64,
}

impl PendingPackets {
    pub(crate) fn push(&mut self, seen: PendingPacket) -> Ticket {
        self.waiting.push_back(seen);
        Ticket(Some(self.written + self.waiting.len() as u64 - 1))
    }

    pub(crate) fn set_fate(&mut self, ticket: Ticket, fate: Fate) {
        let Some(at) = ticket.0.and_then(|number| number.checked_sub(self.written)) else {
            return;
        };
        if let Some(seen) = self.waiting.get_mut(at as usize)
            && seen.fate == Fate::Open
        {
            seen.fate = fate;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<PendingPacket> {
        self.waiting
            .front()
            .filter(|seen| seen.fate != Fate::Open)?;
        self.pop_any()
    }

    pub(crate) fn pop_any(&mut self) -> Option<PendingPacket> {
        let seen = self.waiting.pop_front()?;
        self.written += 1;
        Some(seen)
    }
}
