//! Networks of links, for simulators and emulators.
//!
//! A [`Network`] owns what carries packets: hops between interfaces of nodes, routes over them, and the order
//! of events. A hop is one direction of a wired [`Link`], where a packet's fate is known when it arrives, or
//! belongs to a [`Medium`] shared by many hops, where it is known later. A driver, in virtual or real time,
//! offers packets to routes and asks for the next event; a [`Watch`] sees every packet enter, leave or be
//! dropped.
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
//!     panic!("it comes out");
//! };
//! assert_eq!((arrival.size, *arrival.packet), (1500, "a packet"));
//! ```

mod agenda;
mod build;
mod config;
mod due;
mod id;
mod link;
mod medium;
pub mod mesh;
mod network;
mod offer;
pub mod radio;
mod route;
pub mod routing;
mod streams;
mod topology;
mod uniform;
mod watch;
mod wheel;

pub use agenda::{Agenda, IDLE, Key};
pub use build::{MakeMedium, MediumPlan};
pub use config::{
    Capacity, DirectionConfig, Jitter, LinkConfig, Loss, Outage, QueueLimit, Slot, Trace,
    TraceError,
};
pub use id::{Direction, HopId, InterfaceId, LinkId, NodeId};
pub use link::{Counters, Link};
pub use medium::{Carried, Happened, Medium};
pub use network::{Advance, Arrival, Departed, Network};
pub use offer::{DropReason, Offer};
pub use route::{Heading, Route, RouteId};
pub use streams::stream;
pub use topology::{Hop, Topology};
pub use watch::{Crossing, Watch};
