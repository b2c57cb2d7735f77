//! Segments as endpoints see them, to and from what stands on the wire.
//!
//! An [endpoint](ropewalk_transport::Endpoint) counts in offsets of 64 bits from
//! the start of each stream. On the wire a number has 32 bits and begins
//! anywhere. A [`Connection`] knows where, for both sides and all subflows, and
//! is the one place where numbers wrap.

mod emit;
mod parse;

#[cfg(test)]
mod tests;

pub use emit::WireSegment;
pub use parse::Unusable;

use core::ops::Not;

use ropewalk_quantities::Time;
use ropewalk_transport::multipath::keys::initial_data_sequence_number;

/// A tick of the timestamps' clock: as Linux, and within what RFC 7323, section 5.4 asks for.
const TICK: Time = Time::from_millis(1);

/// Who sends a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The one that opened the connection.
    Client,
    /// The other.
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

/// What is to be known of a connection to write and read its segments.
#[derive(Clone, Debug)]
pub struct Connection {
    data: [DataNumbers; 2],
    subflows: Vec<[SubflowNumbers; 2]>,
    /// Both sides have said that they speak MPTCP.
    multipath: bool,
}

/// What one side of a subflow counts from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Sequence number of its SYN (RFC 9293, 3.4.1).
    pub isn: u32,
    /// Its timestamps' clock at time zero (RFC 7323, 5.4).
    pub clock: u32,
    /// Its name for the address that it sends from (RFC 8684, 3.2).
    pub address_id: u8,
}

/// Numbers that one side of a subflow sends.
#[derive(Clone, Copy, Debug, Default)]
struct SubflowNumbers {
    start: Start,
    /// Window scale of its SYN.
    scale: Option<u8>,
    /// Furthest offset that it has sent, exclusive, and its newest tick: what stands for several
    /// is the nearest to these.
    next: u64,
    tick: u64,
    /// The mapping that it sent last: of so many bytes from this offset on, to this data offset.
    mapping: Option<(u64, u64, u64)>,
}

/// Numbers of one side's stream of data.
#[derive(Clone, Copy, Debug, Default)]
struct DataNumbers {
    key: u64,
    /// Data sequence number of the first byte: one after the initial one (RFC 8684, 3.1).
    first: u64,
    /// Furthest offset that was sent, exclusive.
    next: u64,
}

impl Connection {
    /// A connection of nobody knows what; what it reads tells it.
    pub fn new() -> Connection {
        Connection {
            data: [DataNumbers::default(); 2],
            subflows: Vec::new(),
            multipath: false,
        }
    }

    /// This side's key of the connection is known (RFC 8684, 3.1).
    pub fn set_key(&mut self, side: Side, key: u64) {
        self.data[side as usize].key = key;
        self.data[side as usize].first = initial_data_sequence_number(key).wrapping_add(1);
    }

    /// One more subflow, and where its client and its server count from; reading a SYN changes
    /// that. Gives its number.
    pub fn add_subflow(&mut self, client: Start, server: Start) -> usize {
        let numbers = |start| SubflowNumbers {
            start,
            ..SubflowNumbers::default()
        };
        self.subflows.push([numbers(client), numbers(server)]);
        self.subflows.len() - 1
    }

    /// How far this side's windows are shifted: not at all unless both sides scale (RFC 7323, 2.2).
    fn shift(&self, subflow: usize, side: Side) -> u8 {
        let [client, server] = &self.subflows[subflow];
        match (client.scale, server.scale) {
            (Some(client), Some(server)) => [client, server][side as usize],
            _ => 0,
        }
    }

    /// Whether options of MPTCP mean something on a subflow: one that joined has it agreed.
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

/// Of the offsets with these lower 32 bits the one nearest to `near`; none before the start.
fn nearest(low: u32, near: u64) -> Option<u64> {
    let ahead = low.wrapping_sub(near as u32) as i32;
    near.checked_add_signed(i64::from(ahead))
}
