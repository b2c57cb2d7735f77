//! The testbed: a scenario on the Linux kernel's own TCP and MPTCP, over emulated links.

pub mod counters;
pub mod traffic;
