//! Congestion control: one object per connection, with the subflow as an argument.
//!
//! Each call gets the table of all subflows, for coupled algorithms. The sender owns cwnd and ssthresh, which
//! are in the table; an algorithm returns new values. Loss recovery is the sender's task.

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
use crate::algorithm::{Custom, registry};

pub use hystart::HyStart;
pub use single_path::SinglePathControl;
pub use slow_start::{Grown, SlowStart};
pub use window::Window;

registry! {
    ($)
    /// Congestion control of a single path.
    config SinglePathConfig by build_path;
    /// A congestion control of a single path, with static dispatch.
    #[derive(Clone, Debug)]
    // A connection has few of these in one vector, so boxing large variants is not worth it.
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
    /// A congestion control of a connection; the built-in ones use static dispatch.
    #[derive(Debug)]
    built Controller by each_controller;
    settings Settings;
    algorithms {
        /// A single-path algorithm on each subflow separately.
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
        /// A user's own congestion control.
        Custom(CustomCongestion => Box<dyn CongestionControl + Send>),
    }
}

// After the registries, whose macros it uses.
mod controller;
mod single_path;

/// A user's own congestion control ([`Custom::new`]).
pub type CustomCongestion = Custom<Settings, Box<dyn CongestionControl + Send>>;

/// The settings of an endpoint that congestion controls use.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Windows grow by bytes acknowledged (RFC 3465), not by acknowledgements.
    pub byte_counting: bool,
    /// Leave slow start when the RTT rises, if the algorithm supports it.
    pub hystart: bool,
    /// Let CUBIC grow by whole segments as in Linux (`bictcp_update`) rather than as in RFC 9438. The
    /// Reno-friendly region grows by 0.53 segments per round trip even beyond the window before the loss
    /// (4.3). Until the first loss, growth is at least a twentieth of the window. It looks ahead by the
    /// minimum RTT.
    pub linux_cubic: bool,
    /// The algorithm that `uncoupled` runs on each subflow.
    pub subflow: SinglePathConfig,
}

/// An acknowledgement that may grow the window.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Now.
    pub now: Time,
    /// Bytes newly acknowledged.
    pub bytes: u64,
    /// Newest RTT sample of the subflow: of this acknowledgement, or of an earlier one if it gave none.
    pub rtt: Option<Time>,
    /// First unacknowledged byte, as the subflow's stream offset.
    pub snd_una: u64,
    /// First unsent byte, as the subflow's stream offset.
    pub snd_nxt: u64,
    /// The congestion window limited the sender (RFC 7661); if not, it must not grow.
    pub cwnd_limited: bool,
}

/// Cause of a window reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// Duplicate or selective acknowledgements reported a loss; at most once per window.
    FastRetransmit,
    /// The retransmission timer expired.
    Timeout,
}

/// A congestion-control algorithm for all subflows of one connection.
pub trait CongestionControl: fmt::Debug {
    /// Adds a subflow with this number; numbers count up from zero.
    fn add_subflow(&mut self, subflow: usize);

    /// Returns the new cwnd, in bytes, after an acknowledgement of new data outside of loss recovery. It may be
    /// smaller than the present one, and must not be larger if `acked.cwnd_limited` is false.
    #[must_use]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64;

    /// Returns the new ssthresh at a congestion event. The sender sets cwnd from it (RFC 6675, 6937 or 5681).
    /// Here the subflow's `in_flight` is RFC 5681's FlightSize: data sent and not cumulatively acknowledged,
    /// including data reported as received or lost. A repeated timeout of the same data is not reported (RFC
    /// 5681, section 3.1).
    #[must_use]
    fn on_congestion(
        &mut self,
        subflow: usize,
        cause: Congestion,
        now: Time,
        subflows: &[SubflowState],
    ) -> u64;

    /// Saves the algorithm's own state of the subflow for an undo, and replaces the state saved before. Called
    /// before `on_congestion` if no loss was outstanding; not called again for later events of the same
    /// recovery. The sender itself saves cwnd and ssthresh.
    fn save(&mut self, _subflow: usize) {}

    /// Restores the saved state: all congestion events since the last [`save`](CongestionControl::save) were
    /// spurious. cwnd and ssthresh in the table have been restored.
    fn restore(&mut self, _subflow: usize) {}
}
