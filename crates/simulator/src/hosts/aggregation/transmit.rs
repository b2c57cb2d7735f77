//! Transfer of frames from the association to the sockets of its carriers.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::{Association, CarrierId, DATA_HEADER_LEN, Length};

use super::Aggregation;
use super::connection::SocketLimits;

impl Aggregation {
    /// Passes frames to the carriers of an end, until no socket takes more.
    #[inline(always)]
    pub(super) fn transmit_all(&mut self, now: Time, end: usize) {
        self.take_events(now, end);
        while let Some(of) = self.ends[end].next_ready(now, self.dirty.carriers(end)) {
            self.transmit_on(now, self.dirty.connection_of(end, of), end);
            self.take_events(now, end);
        }
    }

    /// Passes frames to a carrier until its socket is full or it has none.
    #[inline(never)]
    fn transmit_on(&mut self, now: Time, at: usize, end: usize) {
        self.give_frames(now, at, end);
        let connection = &self.connections[at];
        // A connection that had nothing to send keeps its state and its timers.
        if connection.changed[end] {
            self.dirty.touch(at);
        }
    }

    fn give_frames(&mut self, now: Time, at: usize, end: usize) {
        let connection = &mut self.connections[at];
        let Some(id) = connection.carriers[end] else {
            return;
        };
        let core = &mut self.ends[end];
        loop {
            if !connection.takes_more(end, self.socket.limits(core, id)) {
                connection.blocked[end] = true;
                core.blocked(id);
                return;
            }
            match core.poll_transmit(now, id) {
                Some(frame) => {
                    self.pass.gave = true;
                    connection.put(end, frame, self.socket.data_header);
                }
                None => return,
            }
        }
    }

    /// Updates a connection that has sent segments: its socket may take more.
    pub(super) fn after_flush(&mut self, at: usize, end: usize) {
        let connection = &mut self.connections[at];
        if connection.blocked[end] {
            self.dirty.touch(at);
        }
        if let Some(id) = connection.carriers[end]
            && connection.blocked[end]
            && connection.takes_more(end, self.socket.limits(&self.ends[end], id))
        {
            connection.blocked[end] = false;
            self.ends[end].writable(id);
        }
    }
}

/// Settings of the sockets of all carriers.
#[derive(Clone, Copy, Debug)]
pub(super) struct SocketSettings {
    pub(super) send_buffer: Bytes,
    /// Limit of unsent data; `None`: two frames.
    pub(super) low_water: Option<Bytes>,
    /// Header of a data frame.
    pub(super) data_header: Bytes,
}

impl SocketSettings {
    /// Returns when the socket of a carrier takes more: whole frames that fit the send buffer, while fewer
    /// than two frames are unsent, unless the scenario sets another limit.
    fn limits(&self, core: &Association<Length>, id: CarrierId) -> SocketLimits {
        let frame = core.frame_len(id).map_or(1, |with_header| {
            let payload = with_header.as_u64() - DATA_HEADER_LEN as u64;
            payload + self.data_header.as_u64()
        });
        SocketLimits {
            frame: frame.min(self.send_buffer.as_u64()),
            low_water: self.low_water.map_or(2 * frame, Bytes::as_u64),
        }
    }
}
