//! TCP and MPTCP endpoints without input or output.
//!
//! Nothing here reads a clock, opens a socket or starts a thread: time is an
//! argument, segments come in and go out as values. The simulator drives an
//! endpoint in virtual time; a TUN device could drive it against a kernel.

mod close;
mod config;
pub mod congestion;
mod endpoint;
mod handshake;
mod memory;
pub mod multipath;
mod prr;
mod rack;
mod range_set;
mod receiver;
mod recovery;
mod retransmission_timer;
mod rtt;
pub mod scheduling;
mod scoreboard;
mod segment;
mod send_buffer;
mod sender;
mod sending;
mod subflow;
mod subflow_state;
mod tail_loss_probe;
mod timers;
mod transmit;

pub use config::{
    Config, CongestionKind, InitialWindow, IpVersion, Profile, ReorderingKind, SchedulerKind,
    SinglePathKind,
};
pub use endpoint::{Endpoint, Event, MAX_SUBFLOWS};
pub use range_set::RangeSet;
pub use segment::{Flags, Options, SackList, Segment, SynMultipath, SynOptions};
pub use sender::Counters;
pub use subflow_state::SubflowState;

#[cfg(test)]
mod tests;
