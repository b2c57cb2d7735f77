//! Two associations in a world without sockets.

mod fault_plans;
mod faults;
mod goodput;
mod outage;
mod thin;
mod world;
