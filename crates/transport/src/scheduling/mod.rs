//! Packet scheduling: which subflow carries the next data. MPTCP, the aggregation and the tunnel use the same
//! schedulers, so these only get a table of subflows.

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

use crate::algorithm::{Custom, registry};
pub use crate::subflow_set::SubflowSet;
use crate::{Deadline, SubflowState};

registry! {
    ($)
    /// Config of a scheduler.
    config SchedulerConfig by build;
    /// A scheduler; the built-in ones use static dispatch.
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
        /// A user's own scheduler.
        Custom(CustomScheduler => Box<dyn Scheduler + Send>),
    }
}

// After the registry, whose macro it uses.
mod packet_scheduler;

/// A user's own scheduler ([`Custom::new`]).
pub type CustomScheduler = Custom<Settings, Box<dyn Scheduler + Send>>;

/// The settings of an endpoint that schedulers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Memory overhead of unacknowledged data over their payload, in 1024ths.
    pub sent_overhead: u64,
}

/// The data to send: input of a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// Time.
    pub now: Time,
    /// Bytes written and not yet assigned to any subflow.
    pub unsent: u64,
    /// Bytes that the connection's send window (the peer's receive window) still allows.
    pub window: u64,
    /// Size of the whole send window: bytes in flight at data level plus `window`.
    pub window_size: u64,
    /// Bytes written so far.
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

/// A scheduler's decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Send the next segment on this subflow now; it must have space.
    Send(usize),
    /// Assign the next segment to this subflow, which queues it if it has no space.
    Assign(usize),
    /// Send the next segment on each of these; those without space queue it.
    SendOn(SubflowSet),
    /// Send nothing now; call again after the next acknowledgement with news.
    Wait,
    /// Send nothing now; call again at this time at the latest, which is later than now.
    WaitUntil(Time),
}

/// Data with a deadline that are in flight on a subflow.
#[derive(Clone, Copy, Debug)]
pub struct InFlightData {
    /// Time.
    pub now: Time,
    /// Their deadline.
    pub deadline: Deadline,
    /// When they were last sent.
    pub sent: Time,
    /// Unacknowledged bytes on the subflow up to the end of these data.
    pub ahead: u64,
    /// Subflow of the data.
    pub on: usize,
}

/// A decision whether to copy data in flight to another subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyDecision {
    /// Copy to this subflow, which must have space.
    To(usize),
    /// No copy; later data on the same subflow may need one.
    NotYet,
    /// No copy of these and later data before this time.
    NotBefore(Time),
    /// No copy of these and later data.
    Never,
}

/// A packet scheduler for one connection.
pub trait Scheduler: fmt::Debug {
    /// Chooses the subflow of the next segment. Called while there are unsent data and window.
    #[must_use]
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice;

    /// Notes that the send window blocked unsent data although a subflow had space. Schedulers that estimate
    /// blocking (BLEST) use it.
    fn on_window_blocked(&mut self) {}

    /// Decides about data with deadlines in flight, the oldest of each subflow first.
    fn decide_copy(&mut self, _data: &InFlightData, _subflows: &[SubflowState]) -> CopyDecision {
        CopyDecision::Never
    }
}

/// Whether waiting for space on the subflow makes sense: it is usable, and has not just timed out, with a
/// window of one segment and lost data outstanding.
#[inline]
fn expects_room(state: &SubflowState) -> bool {
    state.usable && !(state.in_recovery && state.cwnd <= state.mss)
}
