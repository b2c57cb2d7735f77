//! Relay and proxy as users run them: two processes, on loopback.

mod classes;
mod control_path;
mod documented_commands;
mod endings;
mod exit_status;
mod gateways;
mod hostile;
mod http;
mod metrics;
mod pair;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../process/mod.rs"]
mod process;
mod public_relay;
mod quota;
mod refusals;
mod reload;
mod reload_options;
mod standard_error;
mod status;
mod status_codes;
mod transfers;
mod unreachable_relay;
