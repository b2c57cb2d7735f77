//! Links that change while a gateway runs: in network namespaces, as root.

mod network;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../process/mod.rs"]
mod process;
mod proxy;
mod tunnel;
