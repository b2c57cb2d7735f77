//! The testbed: a scenario on the Linux kernel's TCP and MPTCP, over emulated links.
//!
//! Each run ([`run_scenario`]) takes one process, with a network namespace for the client's thread and one for
//! the server's. Each path has a TUN device in both. The [`Emulator`] carries packets between them in
//! real time, over the simulator's links. Namespaces and devices have no names outside the process:
//! the kernel removes them when it ends, and simultaneous runs do not affect each other.
//!
//! A run needs root or a user namespace ([`acquire`]), and access to /dev/net/tun. [`doctor`] reports
//! missing requirements.
//!
//! ```no_run
//! use ropewalk_testbed::{Request, acquire, die_with_parent, run_scenario};
//!
//! // In a separate process, which still has one thread.
//! acquire()?;
//! die_with_parent()?;
//! let report = run_scenario(&Request {
//!     scenario: std::fs::read_to_string("scenarios/start/two-links.toml")?,
//!     name: "two-links.toml".to_owned(),
//!     seed: 1,
//!     ..Request::default()
//! })?;
//! println!("{} Mbit/s", report.traffic.goodput_mbps);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address_plan;
mod capture;
mod competitors;
pub mod counters;
mod doctor;
mod emulate;
mod emulator;
mod error;
mod fairness;
mod gateway;
mod iproute;
mod kernel;
mod links;
mod machine;
mod namespace;
mod netem;
mod network;
mod report;
mod request;
mod run;
mod syscalls;
mod sysctl;
#[cfg(test)]
mod testing;
pub mod traffic;
mod tun;
mod tunnel;
mod user_namespace;

pub use address_plan::{AddressPlan, PathPlan};
pub use capture::Tap;
pub use doctor::{Check, Diagnosis, Machine, Suitability, doctor};
pub use emulate::{Emulation, emulate};
pub use emulator::{DirectionResult, Emulator, EmulatorResult, Lateness, LatenessSummary};
pub use error::Error;
pub use machine::{MachineSummary, Waits};
pub use namespace::Namespace;
pub use network::Testbed;
pub use report::{EmulatorSummary, KernelSummary, PerEnd, Report};
pub use request::{EmulatorKind, Request};
pub use run::run_scenario;
pub use user_namespace::{Privilege, acquire, die_with_parent};
