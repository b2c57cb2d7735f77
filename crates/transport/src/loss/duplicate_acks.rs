//! Loss detection by counting: duplicate acknowledgements (RFC 5681), or selective acknowledgements above a
//! segment (RFC 6675); without SACK as in RFC 6582.

use super::LossVerdict;
use crate::acknowledgement::Acknowledgement;
use crate::event::LossSign;
use crate::recovery::Phase;
use crate::scoreboard::{Scoreboard, Sent};

/// Default DupThresh, used until reordering is detected (RFC 5681, 3.2).
pub const DEFAULT_DUP_THRESH: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct DuplicateAcks {
    pub(crate) count: u32,
    pub(crate) threshold: u32,
    /// The cumulative acknowledgement before the last one (RFC 6582, 4.1).
    previous_ack: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DupAckContext {
    pub(crate) phase: Phase,
    pub(crate) point: u64,
    pub(crate) una: u64,
    pub(crate) sack: bool,
    pub(crate) mss: u64,
    pub(crate) cwnd: u64,
}

impl Default for DuplicateAcks {
    fn default() -> DuplicateAcks {
        DuplicateAcks {
            count: 0,
            threshold: DEFAULT_DUP_THRESH,
            previous_ack: 0,
        }
    }
}

impl DuplicateAcks {
    /// The threshold for the present flight, lowered if the flight is too small to cause as many duplicates,
    /// so that not every loss waits for the retransmission timer.
    #[inline]
    fn threshold_for(&self, segments: usize) -> u32 {
        if self.threshold == DEFAULT_DUP_THRESH {
            return DEFAULT_DUP_THRESH;
        }
        let most = u32::try_from(segments).unwrap_or(u32::MAX);
        let most = most.saturating_sub(1).max(DEFAULT_DUP_THRESH);
        self.threshold.min(most)
    }

    /// Sets the threshold, at least three; returns whether it changed.
    pub(crate) fn set_threshold(&mut self, threshold: u32) -> bool {
        let threshold = threshold.max(DEFAULT_DUP_THRESH);
        std::mem::replace(&mut self.threshold, threshold) != threshold
    }

    #[inline]
    pub(crate) fn forget(&mut self) {
        self.count = 0;
    }

    #[inline]
    pub(crate) fn on_advance(&mut self, from: u64) {
        self.previous_ack = from;
    }

    /// Marks losses after an acknowledgement, and returns them as a reason for recovery if a duplicate
    /// indicates them.
    pub(crate) fn judge(
        &mut self,
        ack: &Acknowledgement<'_>,
        known: &DupAckContext,
        board: &mut Scoreboard,
        lost: &mut impl FnMut(&Sent, LossSign),
    ) -> LossVerdict {
        let mut found = LossVerdict {
            duplicate: self.count_in(ack, known, board),
            ..LossVerdict::default()
        };
        let mut passed = |sent: &Sent| lost(sent, LossSign::Duplicates);
        let threshold = self.threshold_for(board.len());
        match known.phase {
            Phase::Open => {
                let is_lost = if known.sack {
                    let any = board.mark_passed(threshold, known.mss, &mut passed);
                    any || self.count >= threshold
                } else {
                    self.reaches(threshold) && self.indicate_loss(known)
                };
                found.loss = is_lost && found.duplicate;
                if found.loss {
                    board.mark_first_lost(&mut passed);
                }
            }
            Phase::Recovery | Phase::Loss if ack.segment.ack >= known.point => {}
            Phase::Recovery | Phase::Loss if known.sack => {
                board.mark_passed(threshold, known.mss, &mut passed);
            }
            Phase::Recovery if ack.advanced > 0 => {
                // RFC 6582, 3.2, step 3: a partial acknowledgement indicates the next loss.
                board.mark_first_lost(&mut |sent| lost(sent, LossSign::PartialAcknowledgement));
                found.partial = true;
            }
            Phase::Recovery | Phase::Loss => {}
        }
        found
    }

    /// Counts an acknowledgement; returns whether it is a duplicate.
    fn count_in(
        &mut self,
        ack: &Acknowledgement<'_>,
        known: &DupAckContext,
        board: &Scoreboard,
    ) -> bool {
        let is_duplicate = if known.sack {
            // RFC 6675, section 2: a duplicate reports a range that was not reported before.
            ack.delivered.sacked > 0
        } else {
            ack.advanced == 0 && ack.segment.sequence_len() == 0 && !board.is_empty()
        };
        if ack.advanced > 0 {
            // In recovery without SACK, a partial acknowledgement covers one retransmission, and segments
            // that duplicate acknowledgements had counted.
            let counted = (ack.advanced / known.mss).saturating_sub(1) as u32;
            self.count = match known.phase {
                Phase::Recovery if !known.sack => self.count.saturating_sub(counted),
                _ => 0,
            };
        }
        if is_duplicate && known.phase != Phase::Loss {
            self.count += 1;
        }
        is_duplicate
    }

    /// Without SACK: whether this duplicate indicates a loss. RFC 6582 tests for equality; a threshold that
    /// follows the flight may be skipped.
    fn reaches(&self, threshold: u32) -> bool {
        self.count == threshold || self.threshold > DEFAULT_DUP_THRESH && self.count > threshold
    }

    /// Whether duplicates indicate a loss rather than spurious retransmissions of a timeout (RFC 6582, 3.2,
    /// step 1 and the heuristic of 4.1).
    fn indicate_loss(&self, known: &DupAckContext) -> bool {
        known.una > known.point
            || (known.cwnd > known.mss && known.una - self.previous_ack <= 4 * known.mss)
    }
}
