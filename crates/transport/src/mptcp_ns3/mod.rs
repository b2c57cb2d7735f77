//! The MPTCP of the ns-3 module that gomez-2014, park-2014 and alheid-2016 used (Chihani and Collange's
//! mptcp-ns3), as a separate sender and receiver.
//!
//! It is not RFC 8684. A subflow is acknowledged only as far as it is in order **at both levels**. A segment
//! in order on its subflow but ahead in the stream is stored, and it and all following segments on that
//! subflow cause duplicate acknowledgements. So links of unequal delay look like losses, although they
//! reorder no subflow. The module's D-SACK, Eifel, TCP-DOOR and F-RTO are its own reactions to that
//! ([`Policy`]), different from the RFCs.
//!
//! Segments are counted rather than bytes: each has a number on the subflow and a number in the stream, which
//! do not change when it is retransmitted. The receive window is unlimited, acknowledgements are not delayed,
//! and there is neither fast recovery nor SACK.
//!
//! Source: github.com/dzlab/mptcp-ns3, commit be937b0; its port to ns-3.13,
//! david-gomez-fernandez/multipath-ns3.13, commit 29b9f64, has the same rules.

mod coupling;
mod receiver;
mod sender;
mod subflow;
#[cfg(test)]
mod tests;
mod timeout;

use ropewalk_quantities::{Bytes, Time, named};

use crate::Config;
use crate::algorithm::AlgorithmConfig;
use crate::reordering::ReorderingConfig;
use crate::scheduling::SchedulerConfig;
use crate::scheduling::round_robin::RoundRobinConfig;
use crate::scheduling::traffic_split::TrafficSplitConfig;
pub use coupling::Coupling;
pub use receiver::Receiver;
pub use sender::Sender;

named! {
    /// Handling of duplicate acknowledgements in the module. The policies share names with our reordering
    /// policies ([`reordering`](crate::reordering)), but do not implement the RFCs and papers of these names.
    pub enum Policy {
        /// The third duplicate indicates a loss.
        None = "none",
        /// Each segment that is ahead in the stream is reported by data number. Such duplicates count against
        /// the lowest unacknowledged segment of the stream, on any subflow.
        Dsack = "dsack",
        /// Windows are restored once a duplicate echoes a timestamp older than the retransmission.
        Eifel = "eifel",
        /// Duplicates are no loss; at random times a window of acknowledgements is discarded, which causes
        /// spurious timeouts. After a timeout, each duplicate grows its window.
        FRto = "f-rto",
        /// Duplicates are ignored.
        TcpDoor = "tcp-door",
    }
}

impl Policy {
    /// The module's policy of the same name; `None` if it has none, or the policy has parameters.
    #[must_use]
    pub fn of(reordering: &ReorderingConfig) -> Option<Policy> {
        let default = ReorderingConfig::from_name(reordering.name())?;
        Policy::from_name(default.name()).filter(|_| default == *reordering)
    }

    fn counts_duplicates(self) -> bool {
        matches!(self, Policy::None | Policy::Dsack | Policy::Eifel)
    }
}

/// Configuration of sender and receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Coupling of the windows.
    pub coupling: Coupling,
    /// The policy for duplicate acknowledgements.
    pub policy: Policy,
    /// Maximum payload of a segment.
    pub segment: Bytes,
    /// Limit of data written and not acknowledged.
    pub send_buffer: Bytes,
    /// A partial segment waits for more data.
    pub waits_for_full: bool,
    /// No data are sent before all subflows are open, for at most a second.
    pub wait_for_all: bool,
    /// MPTCP-TSC in place of round robin, as Park et al. 2014 added it to the module.
    pub traffic_split: Option<TrafficSplitConfig>,
}

impl Settings {
    /// Scenario names of the supported schedulers.
    pub const SCHEDULERS: [&'static str; 2] = [
        RoundRobinConfig::DESCRIPTION.name,
        TrafficSplitConfig::DESCRIPTION.name,
    ];

    /// Settings for an endpoint's configuration; `None` if the module lacks its congestion control, its
    /// reordering policy or its scheduler.
    #[must_use]
    pub fn new(config: &Config) -> Option<Settings> {
        let traffic_split = match config.scheduler {
            SchedulerConfig::RoundRobin(_) => None,
            SchedulerConfig::TrafficSplit(split) => Some(split),
            _ => return None,
        };
        Some(Settings {
            traffic_split,
            coupling: Coupling::of(&config.congestion)?,
            policy: Policy::of(&config.reordering)?,
            segment: config.segment,
            send_buffer: config.send_buffer.size,
            waits_for_full: config.nagle,
            wait_for_all: config.subflows.wait_for_all,
        })
    }
}

/// A data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Subflow of the segment.
    pub subflow: usize,
    /// Number on the subflow, from 0.
    pub number: u64,
    /// Number in the stream, from 0.
    pub data: u64,
    /// Payload, in bytes.
    pub len: u32,
    /// Time of transmission.
    pub stamp: Time,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Subflow of the acknowledgement.
    pub subflow: usize,
    /// Next number expected on the subflow.
    pub next: u64,
    /// Timestamp of the segment that caused it.
    pub echo: Time,
    /// With [`Policy::Dsack`], for a segment that is ahead in the stream: that segment, and the lowest
    /// contiguous block of the store; data numbers, first and after the last.
    pub report: Option<[(u64, u64); 2]>,
}
