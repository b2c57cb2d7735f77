//! Per flow: all packets of a flow use one path.
//!
//! The classic answer to reordering (hashing of flows over equal-cost paths, RFC 2992): a flow has one path's
//! delay, order and loss, and never more than one path's rate. A tunnel implements it, since only a tunnel has
//! several flows to assign; the subflows of one connection cannot be scheduled by it.

use super::Settings;
use super::min_rtt::MinRtt;
use crate::algorithm::algorithm;

algorithm! {
    /// Each flow keeps to one link of a tunnel. It moves when the link fails, or another is clearly better.
    pub struct PerFlowConfig: "per-flow", "after flow hashing, RFC 2992", [ManyStreams, Queueing] {}
}

impl PerFlowConfig {
    /// Creates a scheduler of one path.
    pub fn build(self, _settings: &Settings) -> MinRtt {
        MinRtt
    }
}
