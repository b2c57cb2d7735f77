//! Relay and proxy as users run them: two processes, on loopback.

mod refusals;
mod transfers;
mod world;
