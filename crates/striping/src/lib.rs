//! Bandwidth aggregation above TCP (elahi-2011), without sockets.
//!
//! An [`Association`] connects two ends over several carriers, which are TCP connections, one or more on each
//! link. It carries many independent streams in frames that name a stream and an offset; the receiving end
//! puts each stream in order again. What was in flight on a carrier that fails or falls silent is sent again
//! on the others. Time is an argument and output a return value: the gateway with its sockets and the
//! simulator run the same code.
//!
//! The [`tunnel`] carries packets of a virtual device over the links, in UDP.
//!
//! The paper's system had one stream, numbered packets instead of frames, and no acknowledgements above TCP:
//! data given to a connection stayed with it.

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
pub use event::{Event, NO_CARRIER, OUT_OF_MEMORY, ProtocolError, TOO_MANY_STREAMS};
pub use payload::{Length, Payload};
pub use ropewalk_wire::gateway::{DATA_HEADER_LEN, Frame};
// Needed to use the schedulers' names.
pub use ropewalk_transport::algorithm::Declared;
pub use ropewalk_transport::scheduling::quota_pace::{Pace, Progress};
pub use ropewalk_transport::{Deadline, SchedulerConfig};
