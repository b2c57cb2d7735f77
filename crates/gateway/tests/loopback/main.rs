//! Relay and proxy as users run them: two processes, on loopback.

mod anew;
mod answers;
mod classes;
mod control_path;
mod ends;
mod exit_status;
mod hostile;
mod http;
mod metrics;
mod mute;
mod own_addresses;
mod pair;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../process/mod.rs"]
mod process;
mod quota;
mod refusals;
mod reload;
mod shown_commands;
mod status;
mod transfers;
mod unreached;
mod world;
