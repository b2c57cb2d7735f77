//! State of loss recovery: fast recovery, recovery after a timeout, or neither. The actions are in
//! `sender/recovering.rs`; the state before is saved for an undo.

mod episode;
mod prr;

use crate::acknowledgement::Acknowledgement;

pub(crate) use episode::Restored;
pub use episode::{Before, Phase};
pub(crate) use prr::Prr;

#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    pub(crate) phase: Phase,
    /// Next new offset when the last loss was detected: recovery ends when it is acknowledged (RFC 6582, 6675).
    pub(crate) point: u64,
    /// The first retransmission of a recovery is sent regardless of the window.
    pub(crate) force: bool,
    pub(crate) use_prr: bool,
    pub(crate) prr: Prr,
    /// Recovery began while windows were frozen, and does not change them.
    pub(crate) keeps_window: bool,
    /// Number of new segments to send before any retransmission.
    pub(crate) new_first: u32,
    /// Limit of the window after the present acknowledgement, in bytes; [`u64::MAX`] if none.
    pub(crate) limit: u64,
    /// State that an undo restores; discarded after another reduction, which an undo must not restore.
    pub(crate) before: Option<Box<Before>>,
}

impl Recovery {
    /// `use_prr`: by proportional rate reduction (RFC 6937).
    pub(crate) fn new(use_prr: bool) -> Recovery {
        Recovery {
            phase: Phase::Open,
            point: 0,
            force: false,
            use_prr,
            prr: Prr::default(),
            keeps_window: false,
            new_first: 0,
            limit: u64::MAX,
            before: None,
        }
    }

    /// Begins recovery until `point` is acknowledged; the first retransmission is sent at once.
    /// `keeps_window`: windows do not change.
    pub(crate) fn begin(&mut self, phase: Phase, point: u64, keeps_window: bool) {
        self.phase = phase;
        self.point = point;
        self.force = true;
        self.new_first = 0;
        self.keeps_window = keeps_window;
    }

    pub(crate) fn allows_fast_path(&self) -> bool {
        self.phase == Phase::Open && !self.force && self.new_first == 0
    }

    /// Whether lost segments may be retransmitted now, as the window allows.
    #[inline]
    pub(crate) fn may_retransmit(&self) -> bool {
        (self.phase != Phase::Open || self.force) && self.new_first == 0
    }

    /// Notes that no new data are left to send first; returns whether recovery waited for them.
    pub(crate) fn no_new_data(&mut self) -> bool {
        std::mem::take(&mut self.new_first) > 0
    }

    #[inline]
    pub(crate) fn on_new_data(&mut self) {
        if self.new_first > 0 {
            self.new_first -= 1;
        }
    }

    #[inline]
    pub(crate) fn is_over(&self, ack: &Acknowledgement<'_>) -> bool {
        self.phase != Phase::Open && ack.segment.ack >= self.point
    }
}
