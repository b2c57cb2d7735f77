//! Links that change while a gateway runs, and attackers: in network namespaces, as root.

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../adversary/mod.rs"]
mod adversary;
mod attack;
mod client;
mod default_files;
#[allow(dead_code, reason = "not every test uses all of it")]
mod machines;
mod memory;
mod network;
mod privileges;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../process/mod.rs"]
mod process;
mod proxy;
mod transparent;
mod tunnel;
mod tunnel_hook;
mod tunnel_rate;
