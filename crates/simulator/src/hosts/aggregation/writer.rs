//! Sink of the application of an end.

use ropewalk_quantities::Bytes;
use ropewalk_striping::{Length, Payload};
use ropewalk_transport::Deadline;

use super::Aggregation;
use crate::sink::Sink;

pub(super) struct Writer<'a> {
    pub(super) host: &'a mut Aggregation,
    pub(super) end: usize,
}

impl Writer<'_> {
    /// Writes as many bytes as the send buffer of the stream takes.
    fn write_piece(&mut self, most: u64, deadline: Option<Deadline>) -> u64 {
        let Some(stream) = self.host.stream else {
            return 0;
        };
        let core = &mut self.host.ends[self.end];
        let waiting = core.waiting_of(stream).map_or(0, Bytes::as_u64);
        let room = self.host.main_buffer.as_u64().saturating_sub(waiting);
        let mut piece = Length(most.min(room) as usize);
        if piece.is_empty() {
            return 0;
        }
        let taken = match deadline {
            Some(deadline) => core.write_by(stream, &mut piece, deadline),
            None => core.write(stream, &mut piece),
        };
        taken as u64
    }
}

impl Sink for Writer<'_> {
    fn write(&mut self, most: u64) -> u64 {
        self.write_piece(most, None)
    }

    fn write_by(&mut self, most: u64, deadline: Deadline) -> u64 {
        self.write_piece(most, Some(deadline))
    }

    fn close(&mut self) {
        if let Some(stream) = self.host.stream {
            self.host.ends[self.end].finish(stream);
        }
    }
}
