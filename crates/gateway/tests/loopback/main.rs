//! Relay and proxy as users run them: two processes, on loopback.

mod mute;
mod own_addresses;
mod refusals;
mod status;
mod transfers;
mod world;
