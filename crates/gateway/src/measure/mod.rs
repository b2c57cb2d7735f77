//! `measure`: RTT, rate, loss and queue of each link to a relay, measured by trains of UDP packets, as a
//! scenario file.
//!
//! The client sends requests over a stream of an association that has only this link (`session`), so the
//! relay has authenticated it. The relay answers within limits (`responder`). The evaluation of trains is
//! pure (`train`).

mod command;
pub mod datagram;
mod measured;
pub(crate) mod messages;
mod receiver;
pub(crate) mod responder;
mod session;
mod socket;
mod train;

pub(crate) use command::{Arguments, run};
