//! `relay`: accepts carriers of known clients, and connects to the targets that they request.

mod accept;
mod clients;
mod connect;
mod datagrams;
mod half_open;
mod hellos;
mod own;
mod registry;
pub mod rules;
mod serve;
pub(crate) mod special;
mod verb;

pub use clients::DefaultLimits;
pub use registry::{Relay, RelayConfig};
pub(crate) use verb::{Arguments, check, run};
