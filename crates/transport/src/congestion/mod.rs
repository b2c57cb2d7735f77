//! Congestion control: one object per connection, the subflow as an argument.
//!
//! Coupled schemes need to see all subflows, so each call is handed the whole
//! table. The sender owns cwnd and ssthresh (they stand in the table); an
//! algorithm answers with new values. Loss recovery (what the window is while
//! losses are repaired) is the sender's work, not the algorithm's.

mod balia;
mod controller;
mod coupling;
mod cubic;
mod fully_coupled;
mod hystart;
pub mod lia;
mod linked_increases;
mod newreno;
pub mod olia;
mod slow_start;
#[cfg(test)]
mod testing;
mod uncoupled;

use ropewalk_quantities::Time;

use crate::SubflowState;

pub use balia::{Balia, BaliaConfig};
pub use controller::Controller;
pub use cubic::{Cubic, CubicConfig};
pub use fully_coupled::{FullyCoupled, FullyCoupledConfig};
pub use hystart::HyStart;
pub use lia::{Lia, LiaConfig};
pub use linked_increases::{LinkedIncreases, LinkedIncreasesConfig};
pub use newreno::{NewReno, NewRenoConfig};
pub use olia::{Olia, OliaConfig};
pub use slow_start::{Grown, SlowStart};
pub use uncoupled::{Uncoupled, UncoupledConfig};

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
pub trait CongestionControl {
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
