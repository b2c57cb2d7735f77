//! The testbed: a scenario on the Linux kernel's TCP and MPTCP, over emulated links.
//!
//! Each run ([`world`]) takes one process, with a network namespace for the client's thread and one for
//! the server's. Each path has a TUN device in both. The [`Emulator`] carries packets between them in
//! real time, over the simulator's links. Namespaces and devices have no names outside the process:
//! the kernel removes them when it ends, and simultaneous runs do not affect each other.
//!
//! A run needs root or a user namespace ([`acquire`]), and access to /dev/net/tun. [`doctor`] reports
//! missing requirements.
//!
//! ```no_run
//! use ropewalk_testbed::{Request, acquire, die_with_parent, world};
//!
//! // In a separate process, which still has one thread.
//! acquire()?;
//! die_with_parent()?;
//! let report = world(&Request {
//!     scenario: std::fs::read_to_string("scenarios/start/two-links.toml")?,
//!     name: "two-links.toml".to_owned(),
//!     seed: 1,
//!     ..Request::default()
//! })?;
//! println!("{} Mbit/s", report.traffic.goodput_mbps);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod capture;
mod competitors;
pub mod counters;
mod doctor;
mod emulate;
mod emulator;
mod error;
mod gateway;
mod iproute;
mod kernel;
mod links;
mod machine;
mod namespace;
mod netem;
mod network;
mod plan;
mod report;
mod request;
mod shares;
mod syscalls;
mod sysctl;
pub mod traffic;
mod tun;
mod tunnel;
mod user_namespace;
mod world;

pub use capture::Tap;
pub use doctor::{Check, Diagnosis, Machine, Suitability, doctor};
pub use emulate::{Emulation, emulate};
pub use emulator::{Carried, DirectionCarried, Emulator, Lateness, LatenessSummary};
pub use error::Error;
pub use machine::{MachineSummary, Waits};
pub use namespace::Namespace;
pub use network::Testbed;
pub use plan::{PathPlan, Plan};
pub use report::{EmulatorSummary, Ends, KernelSummary, Report};
pub use request::{EmulatorKind, Request};
pub use user_namespace::{Right, acquire, die_with_parent};
pub use world::world;
