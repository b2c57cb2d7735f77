//! What an end of a connection is to its application: something to write into.

use ropewalk_transport::{Deadline, Endpoint};

/// What an application writes into.
pub trait Sink {
    /// Up to `most` bytes; says how many were taken.
    fn write(&mut self, most: u64) -> u64;
    /// The same of bytes that are to be delivered by a time, where that means something.
    fn write_by(&mut self, most: u64, _deadline: Deadline) -> u64 {
        self.write(most)
    }
    /// There will be no more.
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
