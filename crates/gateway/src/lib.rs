//! Gateway that aggregates the real links of a machine.
//!
//! A *client* on the machine sends the traffic of programs over all links to a *relay* with a public address,
//! which connects to the targets. One download uses the sum of the links, and continues when a link fails.
//! The kernel is not changed.
//!
//! ```text
//! program ── client ══ wifi ══ lte ══ relay ── target
//! ```
//!
//! The client is a proxy or a tunnel:
//!
//! - **Proxy** ([`proxy`]): programs connect by SOCKS5 or HTTP. Each TCP connection becomes a stream of an
//!   association, which has one carrier, a TCP connection, per link. The client's session is an [`Uplink`];
//!   the other end is a [`Relay`](relay::Relay).
//! - **Tunnel** ([`tunnel`]): carries the packets of a virtual network device in UDP, one flow per link.
//!
//! The protocols themselves, without input and output, are state machines of [`ropewalk_striping`]. This
//! crate adds sockets, encryption, limits and the command line ([`main`]).
//!
//! # Layers
//!
//! From the connection of a program down to the link:
//!
//! | modules | purpose |
//! | --- | --- |
//! | [`proxy`], [`programs`] | frontends: SOCKS5, HTTP, redirected connections, programs of `exec` |
//! | [`request`], [`datagram`] | encoding of a stream's target, and of UDP datagrams on a stream |
//! | [`uplink`], [`relay`] | the two ends: associations and their links; clients, rules and limits |
//! | `association`, [`classes`] | streams and carriers over sockets; deadlines of streams |
//! | [`handshake`], [`record`], [`noise`], [`keys`] | authentication (Noise IK), encrypted records, key files |
//! | [`links`], [`quota_policy`], [`quota`] | sockets bound to a link, its quota, and its counted traffic |
//! | [`status`], [`measure`] | status as JSON, metrics and tables; measurement of links |
//!
//! # Example
//!
//! A client with two links, one of them with a price and a quota, that serves programs on port 1080:
//!
//! ```no_run
//! # async fn client() -> Result<(), Box<dyn std::error::Error>> {
//! use ropewalk_gateway::handshake::DialSecurity;
//! use ropewalk_gateway::uplink::UplinkConfig;
//! use ropewalk_gateway::{Uplink, keys, proxy};
//!
//! let uplink = Uplink::new(UplinkConfig {
//!     relay: "relay.example:4433".parse()?,
//!     security: DialSecurity::Sealed {
//!         secret: keys::read_secret_key("van.key".as_ref())?,
//!         relay: keys::read_public_key("relay.pub".as_ref())?,
//!     },
//!     association: ropewalk_striping::Config::default(),
//!     congestion: None,
//!     classes: Default::default(),
//! });
//! uplink.add_link("wifi=wlan0".parse()?)?;
//! uplink.add_link("lte=wwan0,cost=5,quota=10GB".parse()?)?;
//!
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:1080").await?;
//! proxy::serve(uplink, listener).await;
//! # Ok(())
//! # }
//! ```

mod address_class;
#[cfg(any(test, fuzzing))]
mod any_request;
mod association;
mod budget;
mod buffer_pool;
pub mod classes;
mod cli;
mod client;
mod configuration;
mod control;
pub mod datagram;
mod datagram_reader;
mod exec;
mod failure;
mod fair_rate_limiter;
mod foreign_protocol;
pub mod handshake;
mod input_file;
mod keygen;
pub mod keys;
pub mod links;
mod lock;
pub mod measure;
mod memory;
mod name_servers;
mod names;
pub mod noise;
mod option_parsers;
mod output;
mod prefix;
mod privileges;
pub mod programs;
pub mod proxy;
pub mod quota;
pub mod quota_policy;
pub mod record;
pub mod record_sequence;
mod refusal_log;
pub mod relay;
mod relay_name;
pub mod request;
mod routes;
mod runtime;
mod service_options;
mod setup;
mod socket_activation;
mod sockets;
mod source;
pub mod status;
mod status_command;
pub mod target_rules;
mod tcp_info;
mod traffic_rule;
pub mod tunnel;
mod tunnel_stream;
pub mod uplink;

#[cfg(fuzzing)]
pub use any_request::hold as hold_any_request;
pub use cli::{command, main};
pub(crate) use failure::Failure;
pub use links::Link;
pub use uplink::Uplink;
