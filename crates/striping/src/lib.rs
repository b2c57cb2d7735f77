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
//! The paper's own system had one stream, numbered packets in place of frames, and no
//! acknowledgements above TCP: what a connection held was on it for good.

mod association;
mod carrier;
mod carriers;
mod config;
mod control;
mod dialling;
mod event;
mod payload;
mod stream;
mod stream_ids;
mod throttle;
pub mod tunnel;
mod turns;

pub use association::{Association, CarrierStatistics, StreamStatistics};
pub use config::{
    CarrierConfig, CarrierId, Config, Role, StreamId, Terms, carrier_scheduler, carrier_schedulers,
};
pub use dialling::{Dial, Dialling};
pub use event::{Event, NO_CARRIER, ProtocolError, TOO_MANY_STREAMS};
pub use payload::{Length, Payload};
pub use ropewalk_wire::gateway::{DATA_HEADER_LEN, Frame};
// What names its schedulers.
pub use ropewalk_transport::algorithm::Declared;
pub use ropewalk_transport::scheduling::quota_pace::{Pace, Progress};
pub use ropewalk_transport::{Deadline, SchedulerConfig};
