//! Relay and proxy as users run them: two processes, on loopback.

mod ends;
mod http;
mod mute;
mod own_addresses;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../process/mod.rs"]
mod process;
mod quota;
mod refusals;
mod reload;
mod status;
mod transfers;
mod unreached;
mod world;
