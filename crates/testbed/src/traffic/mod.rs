//! Traffic of the scenario from a client to a server, and its measurements.
//!
//! Both ends are threads of one process, each in its own network namespace (namespaces(7)), with a
//! common clock and a [`Session`]. Results are defined as in `ropewalk_simulator`:
//!
//! - Zero is the session's start. The client opens the connection then, and its first bytes count
//!   as written then, even before the connection is established.
//! - A delay runs from the application's write (or a message's due time) until the server's
//!   application has the last byte of the piece, in order.
//! - Datagrams are numbered: each arrival counts, independent of missing ones.
//! - The server compares every byte with the sent data.

mod application;
mod client;
mod connection_plan;
mod datagrams;
mod deliveries;
mod due_times;
mod end_report;
mod error;
mod outcome;
mod pattern;
mod requested;
mod sampler;
mod server;
mod session;
mod socket;
mod socks;
mod tcp_info;
#[cfg(test)]
mod tests;
mod wake_up;

pub use client::run_client;
pub use connection_plan::{ConnectionPlan, DatagramSettings, PathEnds, SocketProtocol};
pub(crate) use datagrams::NUMBER;
pub use end_report::{ClientReport, ServerReport};
pub use error::{Side, TrafficError};
pub use outcome::{ConnectionTimeline, Subflow, Timeline, TrafficOutcome, outcome};
pub(crate) use outcome::{increase, mbps, share_out};
pub use pattern::{Corruption, Pattern};
pub use server::run_server;
pub use session::Session;
