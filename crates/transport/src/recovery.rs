//! Where a sender stands in repairing losses: in fast recovery, after a timeout, or neither. What is
//! done in each is in `sender/recovering.rs`; what was before is kept, so that it can be undone.

mod episode;
mod prr;

use crate::Config;
use crate::acknowledgement::Acknowledgement;

pub(crate) use episode::Restored;
pub use episode::{Before, Phase};
pub(crate) use prr::Prr;

/// Where a sender stands in repairing losses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recovery {
    pub(crate) phase: Phase,
    /// What was sent when the last loss was found: recovery ends when it is acknowledged (RFC 6582, 6675).
    pub(crate) point: u64,
    /// The first retransmission of a recovery leaves whatever the window says.
    pub(crate) force: bool,
    pub(crate) use_prr: bool,
    pub(crate) prr: Prr,
    /// It began while windows were to stay as they are, and ends so.
    pub(crate) keeps_window: bool,
    /// So many new segments leave before anything is sent again.
    pub(crate) new_first: u32,
    /// The window is at most this after the acknowledgement that is looked at, bytes; [`u64::MAX`] is
    /// no limit.
    pub(crate) limit: u64,
    /// What was before the first loss of the episode.
    pub(crate) before: Option<Before>,
}

impl Recovery {
    pub(crate) fn new(config: &Config) -> Recovery {
        Recovery {
            phase: Phase::Open,
            point: 0,
            force: false,
            use_prr: config.prr,
            prr: Prr::default(),
            keeps_window: false,
            new_first: 0,
            limit: u64::MAX,
            before: None,
        }
    }

    /// A loss was found: it is repaired until `point` is acknowledged, the first retransmission at
    /// once. Windows stay as they are if `keeps_window`.
    pub(crate) fn begin(&mut self, phase: Phase, point: u64, keeps_window: bool) {
        self.phase = phase;
        self.point = point;
        self.force = true;
        self.new_first = 0;
        self.keeps_window = keeps_window;
    }

    /// The first offset is this one.
    pub(crate) fn start_at(&mut self, offset: u64) {
        self.point = offset;
    }

    /// Nothing is being repaired, or held back for it.
    pub(crate) fn is_settled(&self) -> bool {
        self.phase == Phase::Open && !self.force && self.new_first == 0
    }

    #[inline]
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// It ends when this offset is acknowledged.
    #[inline]
    pub(crate) fn point(&self) -> u64 {
        self.point
    }

    /// The next retransmission leaves whatever the window says.
    #[inline]
    pub(crate) fn is_forced(&self) -> bool {
        self.force
    }

    /// Lost segments may be sent again now, as far as the window goes.
    #[inline]
    pub(crate) fn may_retransmit(&self) -> bool {
        (self.phase != Phase::Open || self.force) && self.new_first == 0
    }

    /// There is no new data that could leave first; says whether it was waited for.
    pub(crate) fn no_new_data(&mut self) -> bool {
        std::mem::take(&mut self.new_first) > 0
    }

    #[inline]
    pub(crate) fn on_retransmit(&mut self) {
        self.force = false;
    }

    #[inline]
    pub(crate) fn on_new_data(&mut self) {
        if self.new_first > 0 {
            self.new_first -= 1;
        }
    }

    /// A segment of this length left.
    #[inline]
    pub(crate) fn count_out(&mut self, len: u64) {
        self.prr.count_out(len);
    }

    /// There was another reduction, which no undo brings back.
    pub(crate) fn forget_before(&mut self) {
        self.before = None;
    }

    /// An acknowledgement ends it.
    #[inline]
    pub(crate) fn is_over(&self, ack: &Acknowledgement<'_>) -> bool {
        self.phase != Phase::Open && ack.segment.ack >= self.point
    }
}
