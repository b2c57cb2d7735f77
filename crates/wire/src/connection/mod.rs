//! Conversion between the endpoints' segments and the wire format.
//!
//! An [endpoint](ropewalk_transport::Endpoint) counts 64-bit offsets from the start of each stream.
//! Packets have 32-bit sequence numbers with random starts. A [`Connection`] knows these starts;
//! sequence numbers wrap only here.

mod emit;
mod parse;

#[cfg(test)]
mod tests;

pub use emit::WireSegment;
pub use parse::SegmentError;

use core::ops::Not;

use ropewalk_quantities::Time;
use ropewalk_transport::multipath::keys::initial_data_sequence_number;

/// Tick of the timestamp clock, as in Linux (RFC 7323, section 5.4).
const TICK: Time = Time::from_millis(1);

/// Sender of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The end that opened the connection.
    Client,
    /// The other end.
    Server,
}

impl Not for Side {
    type Output = Side;

    fn not(self) -> Side {
        match self {
            Side::Client => Side::Server,
            Side::Server => Side::Client,
        }
    }
}

/// State of a connection for reading and writing its segments.
#[derive(Clone, Debug)]
pub struct Connection {
    data: [DataNumbers; 2],
    subflows: Vec<[SubflowNumbers; 2]>,
    multipath: bool,
}

/// Initial numbers of one side of a subflow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InitialNumbers {
    /// Sequence number of its SYN (RFC 9293, 3.4.1).
    pub isn: u32,
    /// Timestamp clock at time zero (RFC 7323, 5.4).
    pub clock: u32,
    /// Identifier of its address (RFC 8684, 3.2).
    pub address_id: u8,
}

#[derive(Clone, Copy, Debug, Default)]
struct SubflowNumbers {
    start: InitialNumbers,
    /// Window scale of the SYN.
    scale: Option<u8>,
    /// End of the sent data and newest timestamp tick, as references for expanding wrapped numbers.
    next: u64,
    tick: u64,
    /// Last mapping sent: start offset, length, data offset.
    mapping: Option<(u64, u64, u64)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct DataNumbers {
    key: u64,
    /// Data sequence number of the first byte: the initial one plus 1 (RFC 8684, 3.1).
    first: u64,
    next: u64,
}

impl Connection {
    /// A connection without subflows, filled by the segments that it parses.
    pub fn new() -> Connection {
        Connection {
            data: [DataNumbers::default(); 2],
            subflows: Vec::new(),
            multipath: false,
        }
    }

    /// Sets this side's key (RFC 8684, 3.1).
    pub fn set_key(&mut self, side: Side, key: u64) {
        self.data[side as usize].key = key;
        self.data[side as usize].first = initial_data_sequence_number(key).wrapping_add(1);
    }

    /// Adds a subflow with initial numbers, which parsing a SYN updates. Returns its index.
    pub fn add_subflow(&mut self, client: InitialNumbers, server: InitialNumbers) -> usize {
        let numbers = |start| SubflowNumbers {
            start,
            ..SubflowNumbers::default()
        };
        self.subflows.push([numbers(client), numbers(server)]);
        self.subflows.len() - 1
    }

    /// Window shift of this side: zero unless both sides scale (RFC 7323, 2.2).
    fn shift(&self, subflow: usize, side: Side) -> u8 {
        let [client, server] = &self.subflows[subflow];
        match (client.scale, server.scale) {
            (Some(client), Some(server)) => [client, server][side as usize],
            _ => 0,
        }
    }

    /// Whether MPTCP options are valid on a subflow. Joined subflows always have MPTCP.
    fn agreed(&self, subflow: usize) -> bool {
        self.multipath || subflow > 0
    }
}

impl Default for Connection {
    fn default() -> Connection {
        Connection::new()
    }
}

impl SubflowNumbers {
    fn sequence_number(&self, offset: u64) -> u32 {
        self.start.isn.wrapping_add(offset as u32)
    }

    fn offset(&self, sequence_number: u32) -> Option<u64> {
        nearest(sequence_number.wrapping_sub(self.start.isn), self.next)
    }

    fn timestamp(&self, time: Time) -> u32 {
        let ticks = time.as_nanos() / TICK.as_nanos();
        self.start.clock.wrapping_add(ticks as u32)
    }

    fn ticks(&self, timestamp: u32) -> Option<u64> {
        nearest(timestamp.wrapping_sub(self.start.clock), self.tick)
    }
}

/// The offset nearest to `near` with these lower 32 bits; `None` before the start.
fn nearest(low: u32, near: u64) -> Option<u64> {
    let ahead = low.wrapping_sub(near as u32) as i32;
    near.checked_add_signed(i64::from(ahead))
}
