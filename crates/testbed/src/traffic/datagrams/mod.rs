//! Datagrams (RFC 768) by the scenario: each tells its number, and none is sent again.
//!
//! A delay is that from when a datagram was due until the server's application has it. A message is
//! due by its schedule; of a bulk transfer a datagram is due when the first link has sent the one
//! before, as in the simulator.

mod client;
mod departures;
mod pace;
mod server;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use ropewalk_quantities::Time;

pub(super) use client::run as run_client;
pub(super) use server::run as run_server;

use super::pattern::{Corruption, Pattern};

/// What leads the payload of a datagram: its number, little-endian. What follows is that part of the
/// pattern where it would stand in a stream of all of them.
pub(crate) const NUMBER: usize = size_of::<u64>();

/// When datagrams were due, which the client tells and the server asks.
#[derive(Debug, Default)]
pub(crate) struct DueTimes {
    /// Number of the first that is kept.
    first: u64,
    times: VecDeque<Time>,
    /// When the last of a finite transfer was sent.
    pub(crate) closed: Option<Time>,
}

/// So many later ones are sent, at the most, while a datagram is on its way: its delay is not known
/// beyond them.
const KEPT: usize = 1 << 20;

impl DueTimes {
    /// The next datagram is about to be sent.
    pub(crate) fn sending(&mut self, due: Time) {
        if self.times.len() == KEPT {
            self.times.pop_front();
            self.first += 1;
        }
        self.times.push_back(due);
    }

    /// When the one of this number was due.
    pub(crate) fn due(&self, number: u64) -> Option<Time> {
        let place = number.checked_sub(self.first)?;
        self.times.get(usize::try_from(place).ok()?).copied()
    }

    /// How many have been sent.
    pub(crate) fn sent(&self) -> u64 {
        self.first + self.times.len() as u64
    }
}

/// Datagrams of one size, the last of a finite transfer aside, which may be shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    pattern: Pattern,
    /// Payload of each.
    payload: u64,
}

impl Framing {
    pub(crate) fn new(pattern: Pattern, payload: u64) -> Framing {
        Framing { pattern, payload }
    }

    /// Writes the datagram of this number.
    pub(crate) fn write(&self, number: u64, datagram: &mut [u8]) {
        let offset = number.wrapping_mul(self.payload);
        self.pattern.fill(offset, datagram);
        // The end of a transfer may have no room for it.
        if let Some(head) = datagram.first_chunk_mut::<NUMBER>() {
            *head = number.to_le_bytes();
        }
    }

    /// The number of a datagram, all of whose bytes are what was sent. The last one sent has the
    /// number `sent` - 1.
    ///
    /// # Errors
    /// The first byte that is not.
    pub(crate) fn read(&self, datagram: &[u8], sent: u64) -> Result<u64, Corruption> {
        let (number, rest) = match datagram.split_first_chunk::<NUMBER>() {
            Some((head, rest)) => (u64::from_le_bytes(*head), rest),
            None => (sent.wrapping_sub(1), datagram),
        };
        let skipped = (datagram.len() - rest.len()) as u64;
        let offset = number.wrapping_mul(self.payload).wrapping_add(skipped);
        self.pattern.check(offset, rest)?;
        Ok(number)
    }
}
