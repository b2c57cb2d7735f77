//! No policy: every sign of loss is accepted (RFC 5681, 6582, 6675).

use super::{AckSigns, Answer, ReorderingPolicy, Settings};
use crate::algorithm::algorithm;

algorithm! {
    /// None: every sign of loss is believed.
    pub struct NoneConfig: "none", "RFC 5681, 6582 and 6675", [] {}
}

impl NoneConfig {
    /// For one subflow.
    pub fn build(self, _settings: &Settings) -> NoPolicy {
        NoPolicy
    }
}

/// Ignores all signs.
#[derive(Clone, Copy, Debug)]
pub struct NoPolicy;

impl ReorderingPolicy for NoPolicy {
    fn rests(&self) -> bool {
        true
    }

    #[inline(always)]
    fn on_ack(&mut self, _: &AckSigns) -> Answer {
        Answer::NOTHING
    }
}
