//! `relay`: accepts carriers of known clients, and connects to the targets that they request.

mod accept;
mod clients;
mod command;
mod connect;
mod datagrams;
mod handshake_limit;
mod local_address;
mod registry;
mod replay_cache;
mod serve;

pub use clients::DefaultLimits;
pub(crate) use command::{Arguments, check, run};
pub use registry::{Relay, RelayConfig};
