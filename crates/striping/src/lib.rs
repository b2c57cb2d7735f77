//! Bandwidth aggregation without sockets.
//!
//! Two mechanisms carry the traffic of programs over several links at once. Both are state machines that take
//! the time as an argument and return their output, so the gateway with its sockets and the simulator run the
//! same code.
//!
//! # Above TCP: the association
//!
//! An [`Association`] connects two ends over several *carriers*. A carrier is a TCP connection, or any other
//! reliable byte stream; there is one or more on each link. An association has these layers:
//!
//! 1. **Streams** ([`StreamId`]): any number of independent byte streams, each with a window in either
//!    direction.
//! 2. **Frames** ([`Frame`]): a piece of a stream with its offset. The receiving end puts each stream in
//!    order again.
//! 3. **Scheduling** ([`Config::scheduling`]): which carrier sends which piece. By default a carrier sends
//!    only pieces that no other carrier would deliver earlier.
//! 4. **Acknowledgements** above TCP's: if a carrier fails or falls silent, its pieces in flight are
//!    retransmitted on the others.
//! 5. **Carriers** ([`CarrierId`], [`CarrierConfig`], [`Terms`]): rate, round trip, liveness, price and quota
//!    of each. [`Dialling`] decides when a driver connects a link again.
//!
//! The payload of frames is generic ([`Payload`]): bytes in the gateway, a [`Length`] in the simulator.
//!
//! # Below TCP: the tunnel
//!
//! The module [`tunnel`] carries the packets of a virtual device over the links, in UDP: rate control of each
//! link, order of packets, path MTU, and a choice of links.
//!
//! # Example
//!
//! Five bytes over one carrier, whose frames arrive at once. The example `own_transport` has two carriers
//! with rates and delays, one of which breaks.
//!
//! ```
//! use bytes::Bytes;
//! use ropewalk_quantities::Time;
//! use ropewalk_striping::{Association, CarrierConfig, Config, Event, Role};
//!
//! let now = Time::from_millis(1);
//! let mut near = Association::new(Role::Initiator, Config::default());
//! let mut far = Association::new(Role::Responder, Config::default());
//! let near_carrier = near.carrier_up(now, CarrierConfig::default());
//! let far_carrier = far.carrier_up(now, CarrierConfig::default());
//!
//! let stream = near.open().unwrap();
//! near.write(stream, &mut Bytes::from_static(b"hello"));
//! near.finish(stream);
//! while let Some(frame) = near.poll_transmit(now, near_carrier) {
//!     far.received(now, far_carrier, frame)?;
//! }
//! assert_eq!(far.poll_event(), Some(Event::StreamOpened(stream)));
//! assert_eq!(far.poll_event(), Some(Event::Readable(stream)));
//! assert_eq!(far.read(now, stream).unwrap(), "hello");
//! assert_eq!(far.poll_event(), Some(Event::StreamFinished(stream)));
//! # Ok::<(), ropewalk_striping::ProtocolError>(())
//! ```
//!
//! # Origin
//!
//! The association follows elahi-2011. The paper's system had one stream, numbered packets instead of frames,
//! and no acknowledgements above TCP: data given to a connection stayed with it.

mod association;
mod carrier;
mod carrier_set;
mod config;
mod control;
mod copies;
mod dialling;
mod event;
mod payload;
mod rate_limiter;
mod standby;
mod stream;
mod stream_drr;
mod stream_ids;
pub mod tunnel;

pub use association::{Association, CarrierStatistics, StreamStatistics};
pub use config::{
    CarrierConfig, CarrierId, Config, Role, StreamId, Terms, carrier_scheduler, carrier_schedulers,
};
pub use dialling::{Dial, Dialling};
pub use event::{Event, NO_CARRIER, OUT_OF_MEMORY, ProtocolError, TOO_MANY_STREAMS};
pub use payload::{Length, Payload};
pub use ropewalk_wire::gateway::{DATA_HEADER_LEN, Frame};
pub use standby::{Candidate, Standby, Tier};
// Needed to use the schedulers' names.
pub use ropewalk_transport::algorithm::AlgorithmConfig;
pub use ropewalk_transport::scheduling::quota_pace::{Pace, Progress};
pub use ropewalk_transport::{Deadline, SchedulerConfig};
