//! Networks of links, for simulators and emulators.
//!
//! A [`Network`] carries packets of a type of your choice over routes of hops. A driver, in virtual or real
//! time, offers packets to routes, polls the time of the next event, and advances to it. The network reads
//! no clock. Its only randomness are named, seeded streams ([`stream`]).
//!
//! # Layers
//!
//! 1. **Topology** ([`Topology`]): nodes, interfaces, and hops between them. A hop is one direction of a
//!    link.
//! 2. **Routes** ([`Route`], [`RouteId`]): sequences of hops, given as links or found on a graph
//!    ([`routing`]): the shortest route, or several that share no link, node or zone of interference.
//! 3. **Wired links** ([`Link`], [`LinkConfig`]): in each direction a capacity (rate or recorded trace), a
//!    queue, a loss model, a delay with jitter, and outages. The fate of a packet is known when it arrives.
//! 4. **Media** ([`Medium`]): a channel that many hops share, where the fate of a packet is known later.
//!    [`radio`] has 802.11 channels. A network without media pays nothing for them.
//! 5. **Events** ([`TimerTree`], [`Key`]): the next event, and the order of events at equal times. A packet
//!    causes one event per wired hop.
//!
//! A [`NetworkObserver`] observes each packet that enters, leaves or is dropped; [`mesh`] generates random
//! deployments of radio nodes and finds their routes.
//!
//! # Example
//!
//! A packet of 1500 bytes on a link of 10 Mbit/s with a delay of 20 ms leaves after 1.2 ms + 20 ms:
//!
//! ```
//! use ropewalk_network::{
//!     Advance, Capacity, DirectionConfig, LinkConfig, Loss, Network, Offer, QueueLimit,
//! };
//! use ropewalk_quantities::{Rate, Time};
//!
//! let direction = DirectionConfig {
//!     capacity: Capacity::Rate(Rate::from_mbps(10.0)),
//!     delay: Time::from_millis(20),
//!     jitter: None,
//!     slot: None,
//!     loss: Loss::None,
//!     queue: QueueLimit::Packets(100),
//! };
//! let config = LinkConfig {
//!     name: "dsl".to_owned(),
//!     ends: None,
//!     forward: direction.clone(),
//!     reverse: direction,
//!     cost: None,
//!     down: Vec::new(),
//! };
//! let mut network: Network<&str> = Network::new();
//! let ends = [network.add_node(), network.add_node()];
//! let link = network.add_link(ends, &config, 1);
//! let [there, _back] = network.add_path(&[link]);
//!
//! let offer = network.offer(Time::ZERO, there, 1500, &mut "a packet", &mut ());
//! assert_eq!(offer, Offer::Accepted);
//! let exit = Time::from_micros(1_200 + 20_000);
//! assert_eq!(network.next().map(|key| key.time), Some(exit));
//! let Advance::Arrived(arrival) = network.advance(exit, &mut ()) else {
//!     panic!("it arrives");
//! };
//! assert_eq!((arrival.size, *arrival.packet), (1500, "a packet"));
//! ```

mod build;
mod config;
mod event_index;
mod id;
mod link;
mod medium;
pub mod mesh;
mod network;
mod observer;
mod offer;
pub mod radio;
mod route;
pub mod routing;
mod streams;
mod timer_tree;
mod topology;
mod trace;
mod uniform;
mod wheel;

pub use build::{MakeMedium, MediumPlan};
pub use config::{Capacity, DirectionConfig, Jitter, LinkConfig, Loss, Outage, QueueLimit, Slot};
pub use id::{Direction, HopId, InterfaceId, LinkId, NodeId};
pub use link::{Counters, Link};
pub use medium::{Medium, MediumEvent, MediumPacket};
pub use network::{Advance, Arrival, DroppedPacket, Network};
pub use observer::{HopEvent, NetworkObserver};
pub use offer::{DropReason, Offer};
pub use route::{Route, RouteCursor, RouteId};
pub use streams::stream;
pub use timer_tree::{IDLE, Key, TimerTree};
pub use topology::{Hop, Topology};
pub use trace::{DelayTrace, Trace, TraceError};
