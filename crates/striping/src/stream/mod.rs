//! Stream at one end: two directions that end separately.

pub(crate) mod memory_pool;
pub(crate) mod receive;
pub(crate) mod receive_window;
pub(crate) mod send;
#[cfg(test)]
mod tests;

use crate::Payload;
use memory_pool::{MemoryPool, MemoryShare};
use receive::ReceiveBuffer;
use receive_window::{INITIAL_WINDOW, ReceiveWindow};
use send::SendBuffer;

/// Bytes for a piece in addition to its data: its entry in a queue or tree, and the allocator's overhead.
const PIECE: u64 = 128;

#[derive(Clone, Debug)]
pub(crate) struct Stream<P> {
    pub(crate) send: SendBuffer<P>,
    pub(crate) receive: ReceiveBuffer<P>,
    pub(crate) window: ReceiveWindow,
    send_share: MemoryShare,
    /// This end's direction is over: all acknowledged, or reset.
    pub(crate) send_ended: bool,
    /// The peer's direction is over: all read, or reset.
    pub(crate) receive_ended: bool,
    /// A write was refused or cut short: report when there is space.
    pub(crate) wants_room: bool,
    /// A read found nothing: report when there are data.
    pub(crate) wants_data: bool,
    pub(crate) drr_state: DrrState,
    /// Bytes that it may still send in its turn.
    pub(crate) deficit: i64,
    pub(crate) resent_bytes: u64,
    /// Its share of the association's [cost](crate::Association::cost), as last counted.
    pub(crate) counted: u64,
}

/// State of a stream in the deficit round robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrrState {
    Out,
    /// It was idle before: it is served before the others.
    Sparse,
    Bulk,
}

impl<P: Payload> Stream<P> {
    pub(crate) fn new(buffer: u64) -> Stream<P> {
        Stream {
            send: SendBuffer::new(INITIAL_WINDOW),
            receive: ReceiveBuffer::new(),
            window: ReceiveWindow::new(buffer),
            send_share: MemoryShare::default(),
            send_ended: false,
            receive_ended: false,
            wants_room: false,
            wants_data: true,
            drr_state: DrrState::Out,
            deficit: 0,
            resent_bytes: 0,
            counted: 0,
        }
    }

    pub(crate) fn cost(&self) -> u64 {
        let sent = if self.send_ended { 0 } else { self.send.held() };
        let pieces = self.receive.pieces() + self.send.pieces();
        self.receive.held().0 + sent + PIECE * pieces as u64
    }

    /// Limit of its send buffer, if it could hold `most` alone.
    pub(crate) fn send_bound(&self, most: u64, memory: &MemoryPool) -> u64 {
        self.send_share.bound(most, memory)
    }

    pub(crate) fn settle_send(&mut self, memory: &mut MemoryPool) {
        let held = if self.send_ended { 0 } else { self.send.held() };
        self.send_share.settle(held, memory);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.send_ended && self.receive_ended
    }
}
