//! Packet scheduling: which subflow carries the next data.
//!
//! The same schedulers serve MPTCP, the association and the tunnel, so they see a table of subflows and
//! nothing else.

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

/// The settings of an endpoint that schedulers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Memory overhead of unacknowledged data over their payload, in 1024ths.
    pub sent_overhead: u64,
}

/// The data to send.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Time.
    pub now: Time,
    /// Bytes written by the application and not yet assigned to any subflow.
    pub unsent: u64,
    /// Bytes that the connection's send window (the peer's receive window) still allows.
    pub window: u64,
    /// Size of the whole send window: bytes in flight at data level plus `window`.
    pub window_size: u64,
    /// Bytes written by the application so far.
    pub written: u64,
    /// Bytes that the peer has acknowledged in order.
    pub acknowledged: u64,
    /// Deadline of the next unassigned byte, if it was written with one.
    pub deadline: Option<Deadline>,
    /// Unassigned bytes from that one on that share its deadline; 0 without a deadline.
    pub left_of_write: u64,
    /// All subflows whose state may have changed since the last call, and possibly others.
    pub changed: SubflowSet,
}

/// A scheduler's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Send the next segment on this subflow now; it must have room.
    Send(usize),
    /// Assign the next segment to this subflow, which queues it if it has no room.
    Assign(usize),
    /// Send the next segment on each of these; those without room queue it.
    SendOn(SubflowSet),
    /// Send nothing now; call again when an acknowledgement has changed something.
    Wait,
    /// Send nothing now; call again at this time at the latest, which is later than now.
    WaitUntil(Time),
}

/// Data with a deadline that are in flight on a subflow.
#[derive(Clone, Copy, Debug)]
pub struct Flying {
    /// Time.
    pub now: Time,
    /// Their deadline.
    pub deadline: Deadline,
    /// When they were last sent.
    pub sent: Time,
    /// Unacknowledged bytes on the subflow up to their end.
    pub ahead: u64,
    /// Their subflow.
    pub on: usize,
}

/// Whether data in flight are to be sent on another subflow as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescue {
    /// On this one, which must have room.
    On(usize),
    /// No, but later data on the same subflow may be.
    Left,
    /// Not before this time, nor later data.
    NotBefore(Time),
    /// Never.
    Never,
}

/// A packet scheduler for one connection.
pub trait Scheduler: fmt::Debug {
    /// Where to send the next segment. Called while there are unsent data and window.
    #[must_use]
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice;

    /// The send window blocked unsent data although a subflow had room. Schedulers that estimate blocking
    /// (BLEST) learn from it.
    fn on_window_blocked(&mut self) {}

    /// Called for data with deadlines in flight, the oldest of each subflow first.
    fn rescue(&mut self, _flying: &Flying, _subflows: &[SubflowState]) -> Rescue {
        Rescue::Never
    }
}

/// Whether it makes sense to wait for room on the subflow: it is usable, and has not just timed out, with a
/// window of one segment and lost data outstanding.
#[inline]
fn expects_room(state: &SubflowState) -> bool {
    state.usable && !(state.in_recovery && state.cwnd <= state.mss)
}
