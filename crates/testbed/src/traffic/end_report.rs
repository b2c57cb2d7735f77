//! The observations of each end of a transfer.

use ropewalk_quantities::Time;
use ropewalk_simulator::{ApplicationSummary, Histogram};

use super::sampler::Measured;

/// The client's observations.
#[derive(Debug)]
pub struct ClientReport {
    /// When the client began to connect; ideally at zero.
    pub(crate) began: Time,
    /// When the connection was established; `None` if it never was.
    pub(crate) connected: Option<Time>,
    /// How late messages were written to a socket that had room for them.
    pub(crate) lateness: Histogram,
    pub(crate) measured: Measured,
}

/// The server's observations.
#[derive(Debug)]
pub struct ServerReport {
    /// When the last byte of a finite transfer was read; for datagrams, the last that arrived.
    pub(crate) complete: Option<Time>,
    /// Bytes read until the end of the warm-up, and in all.
    pub(crate) bytes: [u64; 2],
    pub(crate) delays: Histogram,
    pub(crate) application: ApplicationSummary,
    /// After the warm-up; `None` if nothing was read.
    pub(crate) longest_gap: Option<Time>,
    pub(crate) measured: Measured,
}
