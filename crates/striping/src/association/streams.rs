//! Streams as the application uses them.

use ropewalk_quantities::Time;
use ropewalk_transport::Deadline;

use super::Association;
use crate::control::Control;
use crate::stream::Stream;
use crate::stream_ids::{is_opened_by, stream_id};
use crate::{Event, Payload, StreamId};

/// Free bytes that wake a writer, or a quarter of the send buffer if that is smaller.
const WORTH_WRITING: u64 = 64 << 10;

impl<P: Payload> Association<P> {
    /// Opens a stream. The peer learns of it with the first frame about it. `None` if the association is
    /// closed or all 2^31 stream numbers are used up.
    #[must_use]
    pub fn open(&mut self) -> Option<StreamId> {
        if self.closed.is_some() || self.ids.own.is_used_up() {
            return None;
        }
        let id = stream_id(self.ids.own.open(), self.role);
        let stream = Stream::new(self.config.buffer.as_u64());
        self.streams.insert(id, stream);
        self.due = None;
        Some(id)
    }

    /// Takes as many bytes off the front of `payload` as the send buffer has space for, and returns their
    /// number. If any are left, [`Writable`](Event::Writable) reports when there is space. Takes nothing once
    /// the direction has ended.
    ///
    /// Short pieces are sent at once if a carrier has room for them, and coalesced otherwise.
    pub fn write(&mut self, stream: StreamId, payload: &mut P) -> usize {
        let Some(state) = self.streams.get_mut(&stream) else {
            return 0;
        };
        if state.send_ended || state.send.finished {
            return 0;
        }
        let bound = state.send_bound(self.config.send_buffer.as_u64(), &self.send_memory);
        let room = bound.saturating_sub(state.send.held());
        let taken = payload
            .len()
            .min(usize::try_from(room).unwrap_or(usize::MAX));
        state.wants_room = taken < payload.len();
        if taken > 0 {
            self.due = None;
            state.send.write(payload.split_to(taken));
            self.adapter.written += taken as u64;
            state.settle_send(&mut self.send_memory);
            self.drr.enter(stream, state);
            self.update_cost(stream);
            self.wake_all();
        }
        taken
    }

    /// Returns the number of bytes that [`write`](Association::write) would take now. If zero,
    /// [`Writable`](Event::Writable) reports when there is space. `None` once the direction has ended.
    #[must_use]
    pub fn room(&mut self, stream: StreamId) -> Option<u64> {
        let state = self.streams.get_mut(&stream)?;
        if state.send_ended || state.send.finished {
            return None;
        }
        let bound = state.send_bound(self.config.send_buffer.as_u64(), &self.send_memory);
        let room = bound.saturating_sub(state.send.held());
        state.wants_room = room == 0;
        Some(room)
    }

    /// Writes as [`write`](Association::write) does, with a deadline for delivery. Schedulers may take it
    /// into account; late bytes are still delivered.
    pub fn write_by(&mut self, stream: StreamId, payload: &mut P, deadline: Deadline) -> usize {
        let start = self.streams.get(&stream).map(|state| state.send.written);
        let taken = self.write(stream, payload);
        if taken > 0
            && let (Some(start), Some(state)) = (start, self.streams.get_mut(&stream))
        {
            state.send.note_deadline(start, deadline);
        }
        taken
    }

    /// Ends this end's direction after the written data.
    pub fn finish(&mut self, stream: StreamId) {
        let Some(state) = self.streams.get_mut(&stream) else {
            return;
        };
        if !state.send_ended {
            self.due = None;
            state.send.finish();
            self.drr.enter(stream, state);
            self.wake_all();
        }
    }

    /// Resets this end's direction: data that have not arrived are lost.
    pub fn reset(&mut self, stream: StreamId, code: u32) {
        self.due = None;
        self.reset_send(stream, code);
        self.remove_if_over(stream);
    }

    pub(super) fn reset_send(&mut self, id: StreamId, code: u32) {
        let Some(state) = self.streams.get_mut(&id) else {
            return;
        };
        if !state.send_ended {
            state.send_ended = true;
            let final_size = state.send.sent_end();
            state.send.clear();
            state.settle_send(&mut self.send_memory);
            self.update_cost(id);
            self.control.push(Control::Reset {
                stream: id,
                code,
                final_size,
            });
            self.wake_all();
        }
    }

    /// Stops reading: drops arriving data, and asks the peer to reset its direction.
    pub fn stop(&mut self, stream: StreamId, code: u32) {
        let Some(state) = self.streams.get_mut(&stream) else {
            return;
        };
        if !state.receive_ended && !state.receive.discard {
            self.due = None;
            state.receive.discard();
            self.update_cost(stream);
            self.control.push(Control::Stop { stream, code });
            self.wake_all();
            if self.streams[&stream].receive.is_finished() {
                self.end_receive(stream);
            }
        }
    }

    /// Returns the next piece in order and lets the peer send more.
    ///
    /// After `None`, [`Readable`](Event::Readable) reports new data,
    /// [`StreamFinished`](Event::StreamFinished) or [`StreamReset`](Event::StreamReset) the end.
    #[must_use]
    pub fn read(&mut self, now: Time, stream: StreamId) -> Option<P> {
        let piece = self.take(stream)?;
        self.release(now, stream, piece.len() as u64);
        Some(piece)
    }

    /// Reads as [`read`](Association::read) does, but the piece counts against the receive window, and the
    /// stream does not finish, until the piece is [released](Association::release).
    #[must_use]
    pub fn take(&mut self, stream: StreamId) -> Option<P> {
        let state = self.streams.get_mut(&stream)?;
        if state.receive_ended {
            return None;
        }
        let piece = state.receive.take();
        state.wants_data = piece.is_none();
        piece
    }

    /// Returns bytes that were [taken](Association::take) to the receive window.
    pub fn release(&mut self, now: Time, stream: StreamId, bytes: u64) {
        let Some(state) = self.streams.get_mut(&stream) else {
            return;
        };
        if state.receive_ended || bytes == 0 {
            return;
        }
        self.due = None;
        state.receive.release(bytes);
        let is_finished = state.receive.is_finished();
        self.update_cost(stream);
        if is_finished {
            self.events.push_back(Event::StreamFinished(stream));
            self.end_receive(stream);
        } else {
            self.update_window(now, stream);
        }
    }

    /// Raises the peer's limit after a read, if that is worth a frame.
    pub(super) fn update_window(&mut self, now: Time, id: StreamId) {
        let slowest = self.slowest_round_trip();
        let Some(state) = self.streams.get_mut(&id) else {
            return;
        };
        let consumed = state.receive.read;
        let worth_telling = state
            .window
            .on_read(now, consumed, slowest, &mut self.memory);
        if worth_telling && !state.window.queued && !state.receive.is_whole() {
            state.window.queued = true;
            self.control.push(Control::Window { stream: id });
            self.wake_all();
        }
    }

    fn slowest_round_trip(&mut self) -> Time {
        self.carriers.settle();
        let slowest = self.carriers.slowest();
        slowest.unwrap_or(Time::from_millis(100))
    }

    pub(super) fn end_receive(&mut self, id: StreamId) {
        if let Some(state) = self.streams.get_mut(&id) {
            state.receive_ended = true;
            state.receive.discard();
            state.window.close(&mut self.memory);
        }
        self.update_cost(id);
        self.remove_if_over(id);
    }

    pub(super) fn remove_if_over(&mut self, id: StreamId) {
        if self.streams.get(&id).is_some_and(Stream::is_over) {
            if let Some(stream) = self.streams.remove(&id) {
                self.streams_cost -= stream.counted;
            }
            if !is_opened_by(id, self.role) {
                self.ids.peers_open -= 1;
            }
            self.events.push_back(Event::StreamClosed(id));
        }
    }

    /// Reports space to write, or the end of the stream, after an acknowledgement.
    pub(super) fn after_acknowledged(&mut self, id: StreamId) {
        self.update_cost(id);
        let Some(state) = self.streams.get_mut(&id) else {
            return;
        };
        if state.send.is_done() && !state.send_ended {
            state.send_ended = true;
            state.settle_send(&mut self.send_memory);
            self.update_cost(id);
            self.remove_if_over(id);
            return;
        }
        state.settle_send(&mut self.send_memory);
        let bound = state.send_bound(self.config.send_buffer.as_u64(), &self.send_memory);
        let room = bound.saturating_sub(state.send.held());
        if state.wants_room && room >= WORTH_WRITING.min(bound / 4).max(1) {
            state.wants_room = false;
            self.events.push_back(Event::Writable(id));
        }
    }
}
