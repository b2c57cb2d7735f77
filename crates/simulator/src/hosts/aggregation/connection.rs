//! A TCP connection that carries frames: a carrier of an association.

use std::collections::VecDeque;
use std::sync::Arc;

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::{CarrierId, Frame, Length, Payload};
use ropewalk_transport::{Config, Endpoint, Event, Segment};

use crate::event_recorders::{EndpointId, EventRecorders};
use crate::hosts::sending_host::{CLIENT, SERVER};

/// Client and server of a connection on one path, and the frames between them.
#[derive(Debug)]
pub(crate) struct CarrierConnection {
    pub(crate) path: usize,
    /// Generation: number of earlier connections on its path.
    pub(crate) generation: u16,
    /// When the client abandons it, while it is being opened.
    pub(crate) dialled_until: Time,
    pub(crate) ends: [Endpoint; 2],
    /// Its carrier in the association of each end, while it is one.
    pub(crate) carriers: [Option<CarrierId>; 2],
    /// Per end: the socket is full, and the association was notified.
    pub(crate) blocked: [bool; 2],
    /// Per end: must be polled for segments.
    pub(crate) changed: [bool; 2],
    /// Per end: arrival of the last segment.
    pub(crate) heard_at: [Option<Time>; 2],
    /// Frames of each direction, by the sending end.
    streams: [ByteStream; 2],
}

#[derive(Debug, Default)]
struct ByteStream {
    /// Frames that the other end has not read completely, with their ends.
    frames: VecDeque<(u64, Frame<Length>)>,
    end: u64,
    /// Offset up to which the socket has taken them.
    written: u64,
    /// Offset up to which the other end has read them.
    read: u64,
}

/// Condition on which a socket takes more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketLimits {
    /// Free buffer that a frame needs: frames that do not fit the send buffer are not begun.
    pub(crate) frame: u64,
    /// The socket is writable while less than this is unsent (Linux: TCP_NOTSENT_LOWAT).
    pub(crate) low_water: u64,
}

impl CarrierConnection {
    /// Opens a connection from the client, which abandons it at `until` if it is not open by then. The keys
    /// are random.
    pub(crate) fn dial(
        dialled_until: Time,
        path: usize,
        generation: u16,
        config: &Arc<Config>,
        mut key: impl FnMut() -> u64,
    ) -> CarrierConnection {
        let mut client = Endpoint::client(config, 1, key(), key());
        let server = Endpoint::server(config, key(), key());
        client.connect();
        CarrierConnection {
            path,
            generation,
            dialled_until,
            ends: [client, server],
            carriers: [None; 2],
            blocked: [false; 2],
            changed: [true, false],
            heard_at: [None; 2],
            streams: Default::default(),
        }
    }

    pub(crate) fn handle_segment<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        segment: &Segment,
        recorders: &mut R,
    ) {
        let mut recorder = recorders.recorder_of(self.endpoint_id(end));
        let mut endpoint = self.ends[end].recorded_by(&mut recorder);
        endpoint.handle_segment(now, 0, segment);
        self.heard_at[end] = Some(now);
        self.changed[end] = true;
    }

    pub(crate) fn poll_transmit<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        recorders: &mut R,
    ) -> Option<usize> {
        let mut recorder = recorders.recorder_of(self.endpoint_id(end));
        let mut endpoint = self.ends[end].recorded_by(&mut recorder);
        endpoint.poll_transmit(now, segment)
    }

    fn endpoint_id(&self, end: usize) -> EndpointId {
        EndpointId {
            end,
            first: self.path,
            generation: self.generation,
        }
    }

    pub(crate) fn poll_event(&mut self, end: usize) -> Option<Event> {
        self.ends[end].poll_event()
    }

    /// Writes a frame; `data_header` is the length of the header if the frame has data.
    pub(crate) fn put(&mut self, end: usize, frame: Frame<Length>, data_header: Bytes) {
        let stream = &mut self.streams[end];
        stream.end += match &frame {
            Frame::Data { payload, .. } => data_header.as_u64() + payload.len() as u64,
            other => other.header_len() as u64,
        };
        stream.frames.push_back((stream.end, frame));
        self.changed[end] = true;
        self.write(end);
    }

    fn write(&mut self, end: usize) {
        let stream = &mut self.streams[end];
        if stream.written < stream.end {
            let taken = self.ends[end].write(stream.end - stream.written);
            stream.written += taken;
            self.changed[end] |= taken > 0;
        }
    }

    /// Returns whether an end's socket takes another frame: the frame fits the send buffer, and the socket
    /// is writable.
    pub(crate) fn takes_more(&mut self, end: usize, socket_limits: SocketLimits) -> bool {
        self.write(end);
        let (stream, socket) = (&self.streams[end], &self.ends[end]);
        stream.written == stream.end
            && socket.unsent() < socket_limits.low_water
            && socket.writable() >= socket_limits.frame
    }

    pub(crate) fn read(&mut self, end: usize) {
        let taken = self.ends[end].read(u64::MAX);
        self.streams[1 - end].read += taken;
        self.changed[end] |= taken > 0;
    }

    pub(crate) fn next_frame(&mut self, end: usize) -> Option<Frame<Length>> {
        let stream = &mut self.streams[1 - end];
        stream
            .frames
            .front()
            .filter(|(end, _)| *end <= stream.read)?;
        stream.frames.pop_front().map(|(_, frame)| frame)
    }

    /// Aborts the connection at an end, as when a socket with unread data is closed.
    pub(crate) fn abort(&mut self, end: usize) {
        if !self.ends[end].is_closed() {
            self.ends[end].abort();
            self.changed[end] = true;
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        let [client, server] = &self.ends;
        let never_heard = self.heard_at[SERVER].is_none();
        client.is_closed() && (server.is_closed() || never_heard) && self.changed == [false; 2]
    }

    pub(crate) fn is_dialled(&self) -> bool {
        self.carriers[CLIENT].is_none() && !self.ends[CLIENT].is_closed()
    }

    /// Returns when a timer of an end expires, or the client abandons the dial.
    pub(crate) fn poll_timeout(&self, end: usize) -> Option<Time> {
        let timer = self.ends[end].poll_timeout();
        if end == CLIENT && self.is_dialled() {
            return Some(timer.map_or(self.dialled_until, |at| at.min(self.dialled_until)));
        }
        timer
    }

    pub(crate) fn handle_timeout<R: EventRecorders>(
        &mut self,
        now: Time,
        end: usize,
        recorders: &mut R,
    ) {
        if end == CLIENT && now >= self.dialled_until && self.is_dialled() {
            self.abort(CLIENT);
        }
        if self.ends[end]
            .poll_timeout()
            .is_some_and(|time| time <= now)
        {
            let mut recorder = recorders.recorder_of(self.endpoint_id(end));
            self.ends[end]
                .recorded_by(&mut recorder)
                .handle_timeout(now);
            self.changed[end] = true;
        }
    }
}
