//! Interface that an application writes into.

use ropewalk_transport::{Deadline, Endpoint};

/// Receiver of an application's data.
pub trait Sink {
    /// Takes up to `most` bytes; returns the number taken.
    fn write(&mut self, most: u64) -> u64;
    /// Takes up to `most` bytes with a deadline, if the protocol supports it.
    fn write_by(&mut self, most: u64, _deadline: Deadline) -> u64 {
        self.write(most)
    }
    /// Ends the data.
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
