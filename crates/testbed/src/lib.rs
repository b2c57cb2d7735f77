//! The testbed: a scenario on the Linux kernel's own TCP and MPTCP, over emulated links.

mod capture;
mod competitors;
pub mod counters;
mod doctor;
mod emulator;
mod error;
mod iproute;
mod kernel;
mod namespace;
mod netem;
mod network;
mod plan;
mod report;
mod request;
mod steal;
mod syscalls;
mod sysctl;
pub mod traffic;
mod tun;
mod user_namespace;
mod world;

pub use doctor::{Check, Diagnosis, Machine, Suitability, doctor};
pub use emulator::{Carried, Emulator, HopCarried, Lateness, LatenessSummary};
pub use error::Error;
pub use namespace::Namespace;
pub use network::Testbed;
pub use plan::{PathPlan, Plan};
pub use report::{EmulatorSummary, Ends, KernelSummary, Report};
pub use request::{EmulatorKind, Request};
pub use user_namespace::{Right, acquire, die_with_parent};
pub use world::world;
