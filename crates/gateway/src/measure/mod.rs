//! `measure`: round trip, rate, loss and queue of each link towards a relay, by trains of UDP
//! packets, as a scenario file.
//!
//! The client asks over a stream of an association that has this link alone ([`session`]), so
//! the relay knows who asks; it answers within bounds ([`responder`]). What trains tell is pure
//! ([`train`]).

pub mod datagram;
mod ear;
mod measured;
pub(crate) mod messages;
pub(crate) mod responder;
mod session;
mod socket;
pub mod train;
mod verb;

pub use measured::{Direction, Forward, Measured, RoundTrip, scenario};
pub use verb::Arguments;
pub(crate) use verb::run;
