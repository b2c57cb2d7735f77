//! Congestion control: one object per connection, the subflow as an argument.
//!
//! Coupled schemes need to see all subflows, so each call gets the whole table. The sender owns cwnd and
//! ssthresh, which are in the table; an algorithm returns new values. Loss recovery (the window while losses
//! are repaired) is the sender's task, not the algorithm's.

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
mod window;

use std::fmt;

use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::algorithm::{Own, registry};

pub use hystart::HyStart;
pub use single_path::SinglePathControl;
pub use slow_start::{Grown, SlowStart};
pub use window::Window;

registry! {
    ($)
    /// Congestion control of one path alone.
    config SinglePathConfig by build_path;
    /// Any congestion control of one path, called without a virtual call.
    #[derive(Clone, Debug)]
    // A connection has few of these in one vector, so their size is not worth an indirection.
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

/// The settings of an endpoint that congestion controls use.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Windows grow by bytes acknowledged (RFC 3465), not by acknowledgements.
    pub byte_counting: bool,
    /// Leave slow start when the round-trip time rises, if the algorithm supports it.
    pub hystart: bool,
    /// Let CUBIC grow as in Linux (`bictcp_update`) rather than as in RFC 9438: by whole segments; in the
    /// Reno-friendly region by 0.53 of them per round trip even beyond the window before the loss (4.3), and by
    /// at least a twentieth of the window until the first loss; it looks ahead by the minimum round trip.
    pub linux_cubic: bool,
    /// The algorithm that `uncoupled` runs on each subflow.
    pub subflow: SinglePathConfig,
}

/// An acknowledgement that may grow the window.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Now.
    pub now: Time,
    /// Bytes newly acknowledged, cumulatively or (in recovery) selectively.
    pub bytes: u64,
    /// Round-trip sample of this acknowledgement, if it gave one.
    pub rtt: Option<Time>,
    /// First byte not acknowledged, as the subflow's stream offset.
    pub snd_una: u64,
    /// First byte not sent, as the subflow's stream offset.
    pub snd_nxt: u64,
    /// Whether the congestion window limited the sender (RFC 7661); if not, it must not grow.
    pub cwnd_limited: bool,
}

/// Why the window is reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Duplicate or selective acknowledgements reported a loss; once per window.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
}

/// A congestion-control algorithm for all subflows of one connection.
pub trait CongestionControl: fmt::Debug {
    /// A subflow with this number was added; numbers count up from zero.
    fn add_subflow(&mut self, subflow: usize);

    /// The new cwnd after an acknowledgement outside of loss recovery, in slow start and congestion
    /// avoidance.
    #[must_use]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64;

    /// The new ssthresh at a congestion event. The sender sets cwnd from it according to RFC 6675, 6937 or
    /// 5681.
    ///
    /// For this call the subflow's `in_flight` is RFC 5681's FlightSize: data sent and not cumulatively
    /// acknowledged, including data reported as received or lost. A repeated timeout of the same data is no
    /// new event (RFC 5681, section 3.1) and is not reported.
    #[must_use]
    fn on_congestion(
        &mut self,
        subflow: usize,
        cause: Congestion,
        now: Time,
        subflows: &[SubflowState],
    ) -> u64;

    /// Saves the algorithm's own state of the subflow, in place of what was saved before.
    ///
    /// Called before the first congestion event after a time without known losses. The sender saves the
    /// table's values itself; an algorithm without state needs neither this nor
    /// [`restore`](CongestionControl::restore).
    fn save(&mut self, _subflow: usize) {}

    /// All congestion events since the last [`save`](CongestionControl::save) were spurious: restores the
    /// state saved then. cwnd and ssthresh in the table have been restored.
    fn restore(&mut self, _subflow: usize) {}
}
