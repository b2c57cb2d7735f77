//! The interface that an application writes into.

use ropewalk_transport::{Deadline, Endpoint};

/// Takes what an application writes.
pub trait Sink {
    /// Takes up to `most` bytes; returns how many.
    fn write(&mut self, most: u64) -> u64;
    /// The same for bytes with a deadline, where the protocol supports it.
    fn write_by(&mut self, most: u64, _deadline: Deadline) -> u64 {
        self.write(most)
    }
    /// Nothing more will be written.
    fn close(&mut self);
}

impl Sink for Endpoint {
    #[inline]
    fn write(&mut self, most: u64) -> u64 {
        Endpoint::write(self, most)
    }
    fn write_by(&mut self, most: u64, deadline: Deadline) -> u64 {
        Endpoint::write_by(self, most, deadline)
    }
    fn close(&mut self) {
        Endpoint::close(self);
    }
}
