//! No policy: every sign of loss is accepted (RFC 5681, 6582, 6675).

use super::{AckInfo, Actions, ReorderingPolicy, Settings};
use crate::algorithm::algorithm;

algorithm! {
    /// No policy: every sign of loss is accepted as a loss.
    pub struct NoneConfig: "none", "RFC 5681, 6582 and 6675", [] {}
}

impl NoneConfig {
    /// Creates the policy of one subflow.
    pub fn build(self, _settings: &Settings) -> NoPolicy {
        NoPolicy
    }
}

/// Policy without any action.
#[derive(Clone, Copy, Debug)]
pub struct NoPolicy;

impl ReorderingPolicy for NoPolicy {
    fn ignores_plain_acks(&self) -> bool {
        true
    }

    #[inline(always)]
    fn on_ack(&mut self, _: &AckInfo) -> Actions {
        Actions::NOTHING
    }
}
