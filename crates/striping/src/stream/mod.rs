//! A stream as this end sees it: two directions that end by themselves.

pub(crate) mod memory;
pub(crate) mod receive;
pub(crate) mod send;
#[cfg(test)]
mod tests;
pub(crate) mod waiting;
pub(crate) mod window;

use crate::Payload;
use memory::{Memory, Share};
use receive::ReceiveBuffer;
use send::SendBuffer;
use window::{INITIAL_WINDOW, Window};

#[derive(Clone, Debug)]
pub(crate) struct Stream<P> {
    pub(crate) send: SendBuffer<P>,
    pub(crate) receive: ReceiveBuffer<P>,
    pub(crate) window: Window,
    send_share: Share,
    /// This end's direction: all acknowledged, or given up.
    pub(crate) send_ended: bool,
    /// The other end's direction: all read, or given up.
    pub(crate) receive_ended: bool,
    /// A write was refused or cut short: to be told when there is room.
    pub(crate) wants_room: bool,
    /// A read found nothing: to be told when there is something.
    pub(crate) wants_data: bool,
    /// Where it stands in the turns of the streams.
    pub(crate) turn: Turn,
    /// Bytes that it may send in this turn.
    pub(crate) deficit: i64,
    pub(crate) resent_bytes: u64,
}

/// Where a stream stands among those that have something to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing to send.
    Out,
    /// It had nothing for a while: before the others.
    Sparse,
    Bulk,
}

impl<P: Payload> Stream<P> {
    /// Its window grows to at most `buffer`.
    pub(crate) fn new(buffer: u64) -> Stream<P> {
        Stream {
            send: SendBuffer::new(INITIAL_WINDOW),
            receive: ReceiveBuffer::new(),
            window: Window::new(buffer),
            send_share: Share::default(),
            send_ended: false,
            receive_ended: false,
            wants_room: false,
            wants_data: true,
            turn: Turn::Out,
            deficit: 0,
            resent_bytes: 0,
        }
    }

    /// How much may wait here to be sent and acknowledged, were `most` the bound of one alone.
    pub(crate) fn send_bound(&self, most: u64, memory: &Memory) -> u64 {
        self.send_share.bound(most, memory)
    }

    /// What waits here to be sent and acknowledged has changed.
    pub(crate) fn settle_send(&mut self, memory: &mut Memory) {
        let held = if self.send_ended { 0 } else { self.send.held() };
        self.send_share.settle(held, memory);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.send_ended && self.receive_ended
    }
}
