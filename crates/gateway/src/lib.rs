//! The gateway: aggregates the real links of a machine.
//!
//! A `proxy` at the near end accepts connections of programs and carries them over one TCP connection per
//! link ([`Link`]) to a `relay` at the far end, which connects to the targets. A `tunnel` carries the packets
//! of a network device in UDP instead. Both ends have keys in files ([`keys`]) and authenticate each other
//! ([`noise`]).

pub mod allowance;
#[cfg(any(test, fuzzing))]
mod any_request;
pub mod association;
mod bucket;
mod budget;
mod buffers;
pub mod classes;
mod cli;
mod configuration;
mod control;
pub mod datagram;
mod exec;
mod failure;
mod given;
mod handed_over;
pub mod handshake;
mod input_file;
mod keygen;
pub mod keys;
pub mod links;
pub mod measure;
mod memory;
mod name_servers;
mod names;
pub mod noise;
mod output;
mod privileges;
pub mod programs;
pub mod proxy;
pub mod quota;
pub mod record;
pub mod record_sequence;
mod refusals;
pub mod relay;
pub mod request;
mod routes;
mod runtime;
mod setup;
mod sockets;
mod source;
pub mod status;
pub mod stranger;
mod tcp_info;
pub mod tunnel;
pub mod uplink;
mod watch;

#[cfg(fuzzing)]
pub use any_request::hold as hold_any_request;
pub use cli::{command, main};
pub use failure::Failure;
pub use links::Link;
pub use uplink::Uplink;
