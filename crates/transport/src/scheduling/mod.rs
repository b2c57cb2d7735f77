//! Packet scheduling: which subflow carries the next data.
//!
//! The same schedulers serve MPTCP in the simulator, the striping protocol and
//! the gateway, so they see a table of subflows and nothing else.

pub mod blest;
pub mod cheapest_in_time;
pub mod earliest_arrival;
pub mod ecf;
pub mod linux;
pub mod min_rtt;
pub mod mp_dash;
pub mod observed_throughput;
pub mod overflow;
pub mod quota_pace;
mod rate;
pub mod redundant;
pub mod round_robin;
mod split_rates;
#[cfg(test)]
mod testing;
pub mod traffic_split;
pub mod weighted;

use std::fmt;

use ropewalk_quantities::Time;

use crate::algorithm::{Own, registry};
pub use crate::subflow_set::SubflowSet;
use crate::{Deadline, SubflowState};

registry! {
    ($)
    /// Which subflow carries the next data.
    config SchedulerConfig by build;
    /// Any scheduler; the built-in ones are called without a virtual call.
    #[derive(Debug)]
    built PacketScheduler by each_scheduler;
    settings Settings;
    algorithms {
        /// `min-rtt`
        MinRtt(min_rtt::MinRttConfig => min_rtt::MinRtt),
        /// `linux`
        Linux(linux::LinuxConfig => linux::Linux),
        /// `round-robin`
        RoundRobin(round_robin::RoundRobinConfig => round_robin::RoundRobin),
        /// `weighted`
        Weighted(weighted::WeightedConfig => weighted::Weighted),
        /// `redundant`
        Redundant(redundant::RedundantConfig => redundant::Redundant),
        /// `blest`
        Blest(blest::BlestConfig => blest::Blest),
        /// `ecf`
        Ecf(ecf::EcfConfig => ecf::Ecf),
        /// `observed-throughput`
        ObservedThroughput(
            observed_throughput::ObservedThroughputConfig => observed_throughput::ObservedThroughput
        ),
        /// `earliest-arrival`
        EarliestArrival(earliest_arrival::EarliestArrivalConfig => min_rtt::MinRtt),
        /// `overflow`
        Overflow(overflow::OverflowConfig => overflow::Overflow),
        /// `cheapest-in-time`
        CheapestInTime(
            cheapest_in_time::CheapestInTimeConfig => cheapest_in_time::CheapestInTime
        ),
        /// `traffic-split`
        TrafficSplit(traffic_split::TrafficSplitConfig => Box<traffic_split::TrafficSplit>),
        /// `mp-dash`
        MpDash(mp_dash::MpDashConfig => mp_dash::MpDash),
        /// A user's own.
        Own(OwnScheduler => Box<dyn Scheduler + Send>),
    }
}

// After the registry, whose macro it uses.
mod packet_scheduler;

/// A user's own scheduler ([`Own::new`]).
pub type OwnScheduler = Own<Settings, Box<dyn Scheduler + Send>>;

/// What of an endpoint's settings schedulers go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Memory that what was sent and not acknowledged takes beside its payload, in 1024ths.
    pub sent_overhead: u64,
}

/// What there is to send.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Now.
    pub now: Time,
    /// Bytes written by the application and not yet assigned to any subflow.
    pub unsent: u64,
    /// Bytes that the connection's send window (the peer's receive window) still allows.
    pub window: u64,
    /// Size of the whole send window: bytes in flight on the data level plus `window`.
    pub window_size: u64,
    /// Bytes written by the application so far.
    pub written: u64,
    /// Bytes that the peer has in order, as far as it was acknowledged.
    pub acknowledged: u64,
    /// By when the next byte that is not assigned is to be delivered, if it was written with a deadline.
    pub deadline: Option<Deadline>,
    /// How many bytes from that one on are due with it, which no subflow has; 0 without a deadline.
    pub left_of_write: u64,
    /// All subflows of whose state something may have changed since the scheduler was asked last, and
    /// perhaps others.
    pub changed: SubflowSet,
}

/// A scheduler's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The next segment goes out on this subflow now; it must have room.
    Send(usize),
    /// The next segment goes to this subflow, which queues it if it has no room.
    Assign(usize),
    /// The same next segment goes to each of these; those without room queue it.
    SendOn(SubflowSet),
    /// Nothing now; ask again when an acknowledgement changed something.
    Wait,
    /// Nothing now; ask again at this time at the latest, which is later than now.
    WaitUntil(Time),
}

/// Data with a deadline that one subflow carries and the peer has not acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Flying {
    /// Now.
    pub now: Time,
    /// By when they are to be delivered.
    pub deadline: Deadline,
    /// When they were sent last.
    pub sent: Time,
    /// Bytes that the subflow carries up to their end, those that are not acknowledged.
    pub ahead: u64,
    /// The subflow that carries them.
    pub on: usize,
}

/// Whether data that are on their way are to be carried by another subflow, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescue {
    /// By this one, which must have room.
    On(usize),
    /// No; what was sent after them on the same subflow may be.
    Left,
    /// Not before this time, nor what was sent after them.
    NotBefore(Time),
    /// Never.
    Never,
}

/// A packet scheduler for one connection.
pub trait Scheduler: fmt::Debug {
    /// Who carries the next segment. Called while there is unsent data and window.
    #[must_use]
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice;

    /// The send window held back unsent data although a subflow had room. A scheduler that
    /// estimates blocking (BLEST) learns from it; the others need not know.
    fn on_window_blocked(&mut self) {}

    /// Asked of data with deadlines that are on their way, the oldest of each subflow first.
    fn rescue(&mut self, _flying: &Flying, _subflows: &[SubflowState]) -> Rescue {
        Rescue::Never
    }
}

/// Whether it makes sense to wait for room on the subflow: it is usable and has not just timed
/// out, with its window at one segment and what was lost still outstanding.
#[inline]
fn expects_room(state: &SubflowState) -> bool {
    state.usable && !(state.in_recovery && state.cwnd <= state.mss)
}
