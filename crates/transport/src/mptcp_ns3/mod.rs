//! The MPTCP of the ns-3 module that gomez-2014, park-2014 and alheid-2016 ran (Chihani and Collange's
//! mptcp-ns3), as a sender and a receiver of its own.
//!
//! It is not RFC 8684. A subflow is acknowledged only as far as it is in order **on both levels**: a
//! segment that is in order on its subflow and ahead in the stream is stored, its subflow's next number
//! stays, and all that follows on that subflow is answered with duplicate acknowledgements. Links of
//! unequal delay, which reorder no subflow, so look like losses; what the module calls D-SACK, Eifel,
//! TCP-DOOR and F-RTO are its own answers to that ([`Policy`]), not those of the RFCs.
//!
//! What is said of it here was read in its source (github.com/dzlab/mptcp-ns3, commit be937b0; its port to
//! ns-3.13, david-gomez-fernandez/multipath-ns3.13, commit 29b9f64, has the same rules).
//!
//! Segments are counted, not bytes: a number on the subflow and a number in the stream, which a
//! segment keeps when it is sent again. The receive window is without a bound, acknowledgements are
//! not delayed, there is no fast recovery and no SACK.

mod coupling;
mod receiver;
mod sender;
mod subflow;
#[cfg(test)]
mod tests;
mod timeout;

use ropewalk_quantities::{Bytes, Time};

use crate::Config;
use crate::algorithm::Declared;
use crate::reordering::ReorderingConfig;
use crate::scheduling::SchedulerConfig;
use crate::scheduling::round_robin::RoundRobinConfig;
use crate::scheduling::traffic_split::TrafficSplitConfig;
pub use coupling::Coupling;
pub use receiver::Receiver;
pub use sender::Sender;

/// What the module does about duplicate acknowledgements. It has the names of our answers to reordering
/// ([`reordering`](crate::reordering)), and does not do what the RFCs and papers of these names say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The third duplicate is a loss.
    None,
    /// Each segment that is ahead in the stream is reported in data numbers, and such duplicates count
    /// against the lowest unacknowledged segment of the stream, on whichever subflow it is.
    Dsack,
    /// Windows are as before the loss once the echo of a duplicate is older than the retransmission.
    Eifel,
    /// Duplicates are ignored; now and then, a window of acknowledgements is thrown away, so that there
    /// are timeouts for nothing.
    FRto,
    /// Duplicates are ignored.
    TcpDoor,
}

impl Policy {
    /// All of them, in the order of the documentation.
    pub const ALL: [Policy; 5] = [
        Policy::None,
        Policy::Dsack,
        Policy::Eifel,
        Policy::FRto,
        Policy::TcpDoor,
    ];

    /// Its name in a scenario file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Policy::None => "none",
            Policy::Dsack => "dsack",
            Policy::Eifel => "eifel",
            Policy::FRto => "f-rto",
            Policy::TcpDoor => "tcp-door",
        }
    }

    /// The module's policy of the name of this answer; `None` where it has none of that name, or
    /// the answer has settings of its own.
    #[must_use]
    pub fn of(reordering: &ReorderingConfig) -> Option<Policy> {
        let usual = ReorderingConfig::from_name(reordering.name())?;
        let mut all = Policy::ALL.into_iter();
        all.find(|policy| policy.name() == usual.name() && usual == *reordering)
    }

    /// Whether duplicates count towards a fast retransmission.
    fn counts_duplicates(self) -> bool {
        matches!(self, Policy::None | Policy::Dsack | Policy::Eifel)
    }
}

/// What both ends are set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How windows grow and shrink together.
    pub coupling: Coupling,
    /// The answer to duplicates.
    pub policy: Policy,
    /// Most payload of a segment.
    pub segment: Bytes,
    /// Bounds what is written and not acknowledged.
    pub send_buffer: Bytes,
    /// A segment that is not full waits for more to be written.
    pub waits_for_full: bool,
    /// In the place of its round robin, as Park et al. 2014 added it to the module.
    pub traffic_split: Option<TrafficSplitConfig>,
}

impl Settings {
    /// The schedulers that it can have, in scenario files.
    pub const SCHEDULERS: [&'static str; 2] = [
        RoundRobinConfig::DESCRIPTION.name,
        TrafficSplitConfig::DESCRIPTION.name,
    ];

    /// Of an endpoint that is set so; `None` if its congestion control, its answer to reordering or its
    /// scheduler is none of the module's.
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
            send_buffer: config.send_buffer,
            waits_for_full: config.nagle,
        })
    }
}

/// A data segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Which subflow it is on.
    pub subflow: usize,
    /// Its number on the subflow, from 0.
    pub number: u64,
    /// Its number in the stream, from 0.
    pub data: u64,
    /// Payload, in bytes.
    pub len: u32,
    /// When it was sent.
    pub stamp: Time,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Which subflow it is of.
    pub subflow: usize,
    /// The next number that is expected there.
    pub next: u64,
    /// The stamp of the segment that it answers.
    pub echo: Time,
    /// With [`Policy::Dsack`], of a segment that is ahead in the stream: it, and the lowest contiguous
    /// block of the store; data numbers, first and after the last.
    pub report: Option<[(u64, u64); 2]>,
}
