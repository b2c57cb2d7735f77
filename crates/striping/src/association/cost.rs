//! Memory use of an association, and its limit.
//!
//! Windows promise a peer more than the memory holds, since most streams use little of theirs. The driver
//! bounds the memory in use instead: near the bound [`set_short`](Association::set_short) stops all growth,
//! and beyond it [`free_memory`](Association::free_memory) resets the largest streams.

use crate::control::Control;
use crate::event::OUT_OF_MEMORY;
use crate::{Event, Payload, StreamId};

use super::Association;

/// Bytes for a stream without data: its state in the association and in the driver.
const STREAM: u64 = 4 << 10;

/// Bytes for a frame that is queued or unacknowledged.
const FRAME: u64 = 128;

/// Freeing memory frees this fraction (1 / 8) of the memory of all streams in addition. Otherwise a peer
/// could make each of its frames sort all streams.
const MARGIN: u64 = 8;

impl<P: Payload> Association<P> {
    /// Returns the bytes of memory in use: data held, and state of streams, pieces and frames.
    #[must_use]
    pub fn cost(&self) -> u64 {
        let in_flight = self.carriers.iter().map(|carrier| carrier.in_flight.len());
        let frames = in_flight.sum::<usize>() + self.control.len();
        let streams = self.streams.len() as u64 * STREAM;
        self.streams_cost + streams + frames as u64 * FRAME
    }

    /// While memory is short, receive windows do not grow, and send buffers are small.
    pub fn set_short(&mut self, is_short: bool) {
        self.memory.set_short(is_short);
        self.send_memory.set_short(is_short);
    }

    /// Resets streams, the largest first, until `excess` bytes and an eighth of the streams' memory are free.
    /// Returns whether `excess` bytes are.
    pub fn free_memory(&mut self, excess: u64) -> bool {
        let mut held: Vec<(u64, StreamId)> = self
            .streams
            .iter()
            .map(|(id, stream)| (stream.counted, *id))
            .filter(|(cost, _)| *cost > 0)
            .collect();
        held.sort_unstable_by(|one, other| other.cmp(one));
        let wanted = excess + self.streams_cost / MARGIN;
        let mut freed = 0;
        for (cost, id) in held {
            if freed >= wanted {
                break;
            }
            freed += cost;
            self.drop_stream(id);
        }
        self.due = None;
        freed >= excess
    }

    fn drop_stream(&mut self, stream: StreamId) {
        let Some(state) = self.streams.get_mut(&stream) else {
            return;
        };
        let code = OUT_OF_MEMORY;
        let (receives, sends) = (!state.receive_ended, !state.send_ended);
        if receives {
            self.events.push_back(Event::StreamReset { stream, code });
            self.control.push(Control::Stop { stream, code });
        }
        if sends {
            self.events.push_back(Event::StreamStopped { stream, code });
            self.reset_send(stream, code);
        }
        // The stream is over: data that still arrive are ignored.
        self.end_receive(stream);
        self.wake_all();
    }

    pub(super) fn update_cost(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            let cost = stream.cost();
            self.streams_cost = self.streams_cost + cost - stream.counted;
            stream.counted = cost;
        }
    }
}
