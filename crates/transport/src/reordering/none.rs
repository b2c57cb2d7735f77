//! No answer: every sign of loss is believed (RFC 5681, 6582, 6675).

use super::{AckSigns, Answer, ReorderingPolicy};

/// Looks at nothing.
#[derive(Clone, Copy, Debug)]
pub struct NoPolicy;

impl ReorderingPolicy for NoPolicy {
    #[inline(always)]
    fn on_ack(&mut self, _: &AckSigns) -> Answer {
        Answer::NOTHING
    }
}
