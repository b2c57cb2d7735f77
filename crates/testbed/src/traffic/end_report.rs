//! Observations of each end of a transfer.

use ropewalk_quantities::Time;
use ropewalk_simulator::{ApplicationSummary, Histogram};

use super::sampler::ConnectionSamples;

/// Observations of the client.
#[derive(Debug)]
pub struct ClientReport {
    pub(crate) began: Time,
    pub(crate) connected: Option<Time>,
    /// Lateness of messages written to a socket with space.
    pub(crate) lateness: Histogram,
    pub(crate) measured: ConnectionSamples,
}

/// Observations of the server.
#[derive(Debug)]
pub struct ServerReport {
    /// Time of the last byte of a finite transfer; for datagrams, of the last arrival.
    pub(crate) complete: Option<Time>,
    /// Bytes read until the end of the warm-up, and in all.
    pub(crate) bytes: [u64; 2],
    pub(crate) delays: Histogram,
    pub(crate) application: ApplicationSummary,
    /// After the warm-up; `None` if nothing was read.
    pub(crate) longest_gap: Option<Time>,
    pub(crate) measured: ConnectionSamples,
}
