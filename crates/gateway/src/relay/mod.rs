//! `relay`: the far end. It takes carriers from clients that it knows, and opens what they ask for.

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
mod special;
mod verb;

pub use registry::{DefaultLimits, Relay, RelayConfig};
pub use verb::Arguments;
pub(crate) use verb::{check, run};
