//! Traffic of the scenario from a client to a server, and its measurements.
//!
//! Both ends are threads of one process, each in its own network namespace (namespaces(7)), and share a clock
//! and a [`Session`]. The results are defined like those of `ropewalk_simulator`:
//!
//! - Zero is the session's start. The client opens the connection then, and its first bytes count as written
//!   then, whether the connection is established or not.
//! - A delay is the time from the application's write (for a message: when it was due) until the server's
//!   application has the last byte of the piece, in order.
//! - Datagrams have numbers: those that arrive count, whatever is missing before them.
//! - Every byte that the server reads is compared with what was sent.

mod application;
mod client;
mod datagrams;
mod deliveries;
mod due_times;
mod end_report;
mod error;
mod outcome;
mod pattern;
mod plan;
mod punctual;
mod requested;
mod sampler;
mod server;
mod session;
mod socket;
mod socks;
mod tcp_info;
#[cfg(test)]
mod tests;

pub use client::run_client;
pub(crate) use datagrams::NUMBER;
pub use end_report::{ClientReport, ServerReport};
pub use error::{Side, TrafficError};
pub use outcome::{ConnectionTimeline, Subflow, Timeline, TrafficOutcome, outcome};
pub(crate) use outcome::{grown, mbps, share_out};
pub use pattern::{Corruption, Pattern};
pub use plan::{DatagramSettings, PathEnds, Plan, SocketProtocol};
pub use server::run_server;
pub use session::Session;
