//! A TCP connection whose bytes are frames: what an association calls a carrier.

use std::collections::VecDeque;
use std::sync::Arc;

use ropewalk_quantities::Time;
use ropewalk_striping::{CarrierId, Frame, Length, Payload};
use ropewalk_transport::{Config, Endpoint, Event, Segment};

use crate::hearing::{Hears, Speaker};
use crate::hosts::{CLIENT, SERVER};

/// Client and server of a connection on one path, and the frames between them.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) path: usize,
    /// Counts the connections of its path, from 0.
    pub(crate) dial: u16,
    /// The client gives it up then if it is still being opened.
    pub(crate) dialled_until: Time,
    pub(crate) ends: [Endpoint; 2],
    /// What it is to the association of each end, while it is anything.
    pub(crate) carriers: [Option<CarrierId>; 2],
    /// Per end: the socket takes no more, and the association knows.
    pub(crate) blocked: [bool; 2],
    /// Per end: it is to be asked what it has to send.
    pub(crate) changed: [bool; 2],
    /// Per end: when a segment came last.
    pub(crate) heard_at: [Option<Time>; 2],
    /// By the end that sends.
    lanes: [Lane; 2],
}

/// The byte stream of one direction, as places in it.
#[derive(Debug, Default)]
struct Lane {
    /// Frames that the other end has not read whole, with their ends.
    frames: VecDeque<(u64, Frame<Length>)>,
    /// End of the last frame.
    end: u64,
    /// So far the socket has taken them.
    written: u64,
    /// So far the other end has read them.
    read: u64,
}

/// What a socket takes at a time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Appetite {
    /// Bytes of a frame: none is begun that does not fit into the send buffer.
    pub(crate) frame: u64,
    /// It is writable while less than this was never sent (Linux: TCP_NOTSENT_LOWAT).
    pub(crate) low_water: u64,
}

impl Connection {
    /// A connection that the client opens now, and gives up then if it is not open. Each `key` is random.
    pub(crate) fn dial(
        dialled_until: Time,
        path: usize,
        dial: u16,
        config: &Arc<Config>,
        mut key: impl FnMut() -> u64,
    ) -> Connection {
        let mut client = Endpoint::client(config, 1, key(), key());
        let server = Endpoint::server(config, key(), key());
        client.connect();
        Connection {
            path,
            dial,
            dialled_until,
            ends: [client, server],
            carriers: [None; 2],
            blocked: [false; 2],
            changed: [true, false],
            heard_at: [None; 2],
            lanes: Default::default(),
        }
    }

    /// A segment arrives at an end.
    pub(crate) fn handle_segment<H: Hears>(
        &mut self,
        now: Time,
        end: usize,
        segment: &Segment,
        heard_by: &mut H,
    ) {
        let mut ear = heard_by.hear(self.speaker(end));
        let mut endpoint = self.ends[end].recorded_by(&mut ear);
        endpoint.handle_segment(now, 0, segment);
        self.heard_at[end] = Some(now);
        self.changed[end] = true;
    }

    /// The next segment that an end has to send.
    pub(crate) fn poll_transmit<H: Hears>(
        &mut self,
        now: Time,
        end: usize,
        segment: &mut Segment,
        heard_by: &mut H,
    ) -> Option<usize> {
        let mut ear = heard_by.hear(self.speaker(end));
        let mut endpoint = self.ends[end].recorded_by(&mut ear);
        endpoint.poll_transmit(now, segment)
    }

    /// An end as whoever hears it knows it.
    fn speaker(&self, end: usize) -> Speaker {
        Speaker {
            end,
            first: self.path,
            dial: self.dial,
        }
    }

    /// What the association should know of an end.
    pub(crate) fn poll_event(&mut self, end: usize) -> Option<Event> {
        self.ends[end].poll_event()
    }

    /// An end sends a frame.
    pub(crate) fn put(&mut self, end: usize, frame: Frame<Length>) {
        let payload = match &frame {
            Frame::Data { payload, .. } => payload.len(),
            _ => 0,
        };
        let lane = &mut self.lanes[end];
        lane.end += (frame.header_len() + payload) as u64;
        lane.frames.push_back((lane.end, frame));
        self.changed[end] = true;
        self.write(end);
    }

    fn write(&mut self, end: usize) {
        let lane = &mut self.lanes[end];
        if lane.written < lane.end {
            let taken = self.ends[end].write(lane.end - lane.written);
            lane.written += taken;
            self.changed[end] |= taken > 0;
        }
    }

    /// Whether an end's socket would take another frame: it has room for all of it, and less was
    /// never sent than leaves it writable.
    pub(crate) fn takes_more(&mut self, end: usize, appetite: Appetite) -> bool {
        self.write(end);
        let (lane, socket) = (&self.lanes[end], &self.ends[end]);
        lane.written == lane.end
            && socket.unsent() < appetite.low_water
            && socket.writable() >= appetite.frame
    }

    /// An end reads what has come.
    pub(crate) fn read(&mut self, end: usize) {
        let taken = self.ends[end].read(u64::MAX);
        self.lanes[1 - end].read += taken;
        self.changed[end] |= taken > 0;
    }

    /// The next frame that an end has read whole.
    pub(crate) fn next_frame(&mut self, end: usize) -> Option<Frame<Length>> {
        let lane = &mut self.lanes[1 - end];
        lane.frames.front().filter(|(end, _)| *end <= lane.read)?;
        lane.frames.pop_front().map(|(_, frame)| frame)
    }

    /// An end gives it up, as a socket that is closed with data in it.
    pub(crate) fn abort(&mut self, end: usize) {
        if !self.ends[end].is_closed() {
            self.ends[end].abort();
            self.changed[end] = true;
        }
    }

    /// It will never do anything again.
    pub(crate) fn is_over(&self) -> bool {
        let [client, server] = &self.ends;
        let never_heard = self.heard_at[SERVER].is_none();
        client.is_closed() && (server.is_closed() || never_heard) && self.changed == [false; 2]
    }

    /// The client is still opening it.
    pub(crate) fn is_dialled(&self) -> bool {
        self.carriers[CLIENT].is_none() && !self.ends[CLIENT].is_closed()
    }

    /// When an end's timer runs out, or the client's patience with a dial.
    pub(crate) fn poll_timeout(&self, end: usize) -> Option<Time> {
        let timer = self.ends[end].poll_timeout();
        if end == CLIENT && self.is_dialled() {
            return Some(timer.map_or(self.dialled_until, |at| at.min(self.dialled_until)));
        }
        timer
    }

    /// What was due at an end by now.
    pub(crate) fn handle_timeout<H: Hears>(&mut self, now: Time, end: usize, heard_by: &mut H) {
        if end == CLIENT && now >= self.dialled_until && self.is_dialled() {
            self.abort(CLIENT);
        }
        if self.ends[end]
            .poll_timeout()
            .is_some_and(|time| time <= now)
        {
            let mut ear = heard_by.hear(self.speaker(end));
            self.ends[end].recorded_by(&mut ear).handle_timeout(now);
            self.changed[end] = true;
        }
    }
}
