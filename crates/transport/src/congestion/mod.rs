//! Congestion control: one object per connection, the subflow as an argument.
//!
//! Coupled schemes need to see all subflows, so each call is handed the whole
//! table. The sender owns cwnd and ssthresh (they stand in the table); an
//! algorithm answers with new values. Loss recovery (what the window is while
//! losses are repaired) is the sender's work, not the algorithm's.

pub mod balia;
mod coupling;
pub mod cubic;
pub mod fully_coupled;
mod hystart;
pub mod lia;
pub mod linked_increases;
pub mod newreno;
pub mod olia;
mod real;
mod slow_start;
#[cfg(test)]
mod testing;
pub mod uncoupled;

use std::fmt;

use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::algorithm::{Own, registry};

pub use hystart::HyStart;
pub use single_path::SinglePathControl;
pub use slow_start::{Grown, SlowStart};

registry! {
    ($)
    /// Congestion control of one path alone.
    config SinglePathConfig by build_path;
    /// Any congestion control of one path, called without a virtual call.
    #[derive(Clone, Debug)]
    // A connection has few of them, and they lie in one vector: size is not worth an indirection.
    #[allow(clippy::large_enum_variant)]
    built SinglePath by each_single_path;
    settings Settings;
    algorithms {
        /// `newreno`
        NewReno(newreno::NewRenoConfig => newreno::NewReno),
        /// `cubic`
        Cubic(cubic::CubicConfig => cubic::Cubic),
    }
}

registry! {
    ($)
    /// Congestion control of a connection.
    config CongestionConfig by build;
    /// Any congestion control; the built-in ones are called without a virtual call.
    #[derive(Debug)]
    built Controller by each_controller;
    settings Settings;
    algorithms {
        /// One of a single path, on each subflow by itself.
        SinglePath(SinglePathConfig => uncoupled::Uncoupled),
        /// `uncoupled`
        Uncoupled(uncoupled::UncoupledConfig => uncoupled::Uncoupled),
        /// `fully-coupled`
        FullyCoupled(fully_coupled::FullyCoupledConfig => fully_coupled::FullyCoupled),
        /// `linked-increases`
        LinkedIncreases(linked_increases::LinkedIncreasesConfig => linked_increases::LinkedIncreases),
        /// `lia`
        Lia(lia::LiaConfig => lia::Lia),
        /// `olia`
        Olia(olia::OliaConfig => olia::Olia),
        /// `balia`
        Balia(balia::BaliaConfig => balia::Balia),
        /// A user's own.
        Own(OwnCongestion => Box<dyn CongestionControl + Send>),
    }
}

// After the registries, whose macros they use.
mod controller;
mod single_path;

/// A user's own congestion control ([`Own::new`]).
pub type OwnCongestion = Own<Settings, Box<dyn CongestionControl + Send>>;

/// What of an endpoint's settings congestion controls go by.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Windows grow by bytes acknowledged (RFC 3465), not by acknowledgements.
    pub byte_counting: bool,
    /// Leave slow start when the round-trip time rises, where the algorithm knows how.
    pub hystart: bool,
    /// CUBIC grows as Linux's does ([`Config::linux_cubic`](crate::Config::linux_cubic)).
    pub linux_cubic: bool,
    /// What `uncoupled` runs on each subflow.
    pub subflow: SinglePathConfig,
}

/// An acknowledgement that moved the window.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Now.
    pub now: Time,
    /// Bytes newly acknowledged, cumulatively or (in recovery) selectively.
    pub bytes: u64,
    /// Round-trip time sample of this acknowledgement, if it gave one.
    pub rtt: Option<Time>,
    /// First byte not acknowledged, as the subflow's stream offset.
    pub snd_una: u64,
    /// First byte not sent, as the subflow's stream offset.
    pub snd_nxt: u64,
    /// Whether the congestion window was what held the sender back (RFC 7661); if not, it must not grow.
    pub cwnd_limited: bool,
}

/// Why the window must shrink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Duplicate or selective acknowledgements told of a loss; once per window.
    FastRetransmit,
    /// The retransmission timer ran out.
    Timeout,
}

/// A congestion-control algorithm for all subflows of one connection.
pub trait CongestionControl: fmt::Debug {
    /// A subflow with this number joined; numbers count up from zero.
    fn add_subflow(&mut self, subflow: usize);

    /// New cwnd after an acknowledgement outside of loss recovery (slow start and avoidance alike).
    #[must_use]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64;

    /// New ssthresh at a congestion event. The sender sets cwnd from it as RFC 6675, 6937 or 5681 say.
    ///
    /// For this call the subflow's `in_flight` is RFC 5681's FlightSize: what was sent and not yet
    /// cumulatively acknowledged, the data reported as received or lost included. A timeout of
    /// data that timed out before is no new event (RFC 5681, section 3.1) and is not told.
    #[must_use]
    fn on_congestion(
        &mut self,
        subflow: usize,
        cause: Congestion,
        now: Time,
        subflows: &[SubflowState],
    ) -> u64;

    /// Keeps what the algorithm itself remembers of the subflow, in place of what it kept before.
    ///
    /// Called before the first congestion event after a time without known losses. What stands in
    /// the table the sender keeps itself; an algorithm without a memory of its own needs neither
    /// this nor [`restore`](CongestionControl::restore).
    fn save(&mut self, _subflow: usize) {}

    /// All congestion events since the last [`save`](CongestionControl::save) were spurious: goes
    /// back to what was kept then. The table has its old cwnd and ssthresh again.
    fn restore(&mut self, _subflow: usize) {}
}
