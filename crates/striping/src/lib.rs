//! Bandwidth aggregation above TCP (elahi-2011), without sockets.
//!
//! An [`Association`] stands between two ends over several carriers, which are TCP connections,
//! one or more on each link. It lays many independent streams on them, in frames that say stream
//! and place; the other end puts each stream in order again. What a carrier held when it died or
//! fell silent goes out again over the others. Time is an argument and output a return value: a
//! driver with sockets and a simulator without use the same code.
//!
//! In the [`tunnel`] packets of a virtual device are laid on links, in UDP.
//!
//! [`Splitter`] and [`Reassembler`] are the paper's own: one stream, packets with numbers, and no
//! acknowledgements above TCP.

mod association;
mod carrier;
mod config;
mod control;
mod earliest_arrival;
mod event;
mod header;
mod payload;
mod reassembler;
mod splitter;
mod stream;
mod stream_ids;
pub mod tunnel;
mod turns;

pub use association::{Association, CarrierStatistics, StreamStatistics};
pub use config::{CarrierConfig, CarrierId, Config, Role, Scheduling, StreamId};
pub use event::{Event, NO_CARRIER, ProtocolError, TOO_MANY_STREAMS};
pub use header::Header;
pub use payload::{Length, Payload};
pub use reassembler::Reassembler;
pub use ropewalk_wire::gateway::Frame;
pub use splitter::{Packet, Splitter};
