//! Transfer of frames from the sockets of the carriers to the association, and delivery in order.

use ropewalk_quantities::Time;
use ropewalk_striping::{Frame, Payload};

use super::Aggregation;
use crate::hosts::sending_host::{CLIENT, SERVER};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Received {
    pub(super) delivered: u64,
    /// Bytes behind a gap, now and at maximum.
    pub(super) held: u64,
    pub(super) held_max: u64,
    /// Frames with new data, and the number that arrived behind a gap.
    pub(super) frames: u64,
    pub(super) out_of_order: u64,
}

impl Aggregation {
    pub(super) fn take_frames(&mut self, now: Time, at: usize, end: usize) {
        self.connections[at].read(end);
        while let Some(frame) = self.connections[at].next_frame(end) {
            let connection = &self.connections[at];
            if connection.carriers[end].is_none() {
                if end == CLIENT || connection.ends[end].is_closed() {
                    continue;
                }
                self.on_joined(now, at);
            }
            let Some(id) = self.connections[at].carriers[end] else {
                continue;
            };
            let is_data = matches!(frame, Frame::Data { .. });
            self.ends[end]
                .received(now, id, frame)
                .expect("both ends keep to the protocol");
            if is_data && end == SERVER {
                let path = self.connections[at].path;
                self.read_at_server(now, path);
            } else if is_data {
                self.read_at_client(now);
            }
        }
    }

    fn read_at_client(&mut self, now: Time) {
        if let Some(stream) = self.stream {
            while let Some(piece) = self.ends[CLIENT].read(now, stream) {
                self.client_read += piece.len() as u64;
            }
        }
    }

    /// Reads at the server's application; `path` delivered the new data.
    fn read_at_server(&mut self, now: Time, path: usize) {
        let Some(stream) = self.stream else {
            return;
        };
        let server = &mut self.ends[SERVER];
        let mut read = 0;
        while let Some(piece) = server.read(now, stream) {
            read += piece.len() as u64;
        }
        let held = server
            .stream_statistics(stream)
            .map_or(0, |statistics| statistics.reassembling.as_u64());
        let received = &mut self.received;
        let new = read + held - received.held;
        received.delivered += read;
        received.held = held;
        received.held_max = received.held_max.max(held);
        received.frames += u64::from(new > 0);
        received.out_of_order += u64::from(new > 0 && read == 0);
        self.paths[path].delivered += new;
    }
}
