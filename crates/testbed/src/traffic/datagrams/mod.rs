//! Datagrams (RFC 768) with the scenario's traffic: numbered, without retransmissions.
//!
//! A delay runs from a datagram's due time until the server's application has it. A message is due
//! at its scheduled time; a datagram of a bulk transfer is due when the first link has sent its
//! predecessor, as in the simulator.

mod client;
mod departures;
mod pace;
mod server;
#[cfg(test)]
mod tests;

pub(super) use client::run as run_client;
pub(super) use server::run as run_server;

use super::pattern::{Corruption, Pattern};

/// Length of the little-endian number at the start of a datagram's payload. The rest is the pattern
/// at the datagram's offset in a stream of all of them.
pub(crate) const NUMBER: usize = size_of::<u64>();

/// Datagrams of the same size, except the last of a finite transfer, which may be shorter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    pattern: Pattern,
    payload: u64,
}

impl Framing {
    pub(crate) fn new(pattern: Pattern, payload: u64) -> Framing {
        Framing { pattern, payload }
    }

    pub(crate) fn write(&self, number: u64, datagram: &mut [u8]) {
        let offset = number.wrapping_mul(self.payload);
        self.pattern.fill(offset, datagram);
        // The last datagram of a transfer may be too short for the number.
        if let Some(head) = datagram.first_chunk_mut::<NUMBER>() {
            *head = number.to_le_bytes();
        }
    }

    /// Returns the number of a received datagram after checking all its bytes. The last one sent
    /// has the number `sent` - 1. Error: the first wrong byte.
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
