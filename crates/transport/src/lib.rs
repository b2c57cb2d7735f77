//! TCP and MPTCP endpoints without input or output.
//!
//! Nothing here reads a clock, opens a socket or starts a thread: time is an
//! argument, segments come in and go out as values. The simulator drives an
//! endpoint in virtual time; a TUN device could drive it against a kernel.

pub mod congestion;
pub mod scheduling;
mod subflow_state;

mod config;

pub use config::{
    Config, CongestionKind, InitialWindow, Profile, Protocol, ReorderingKind, SchedulerKind,
    SinglePathKind,
};
pub use subflow_state::SubflowState;
