//! Restoration of windows according to RFC 4015, and the extent of reordering.

use super::{AckInfo, Actions, Before, Evidence, LostMarks, Settings, Undo};
use crate::congestion::{Congestion, Window};

/// Largest duplicate-acknowledgement threshold (Linux's `net.ipv4.tcp_max_reordering`).
pub(super) const MAX_THRESHOLD: u64 = 300;

/// Undo of the losses since `before`: windows as RFC 4015 restores them after timeouts (section 3, steps 0, 8
/// and 9). After a fast retransmission the window is at most the one before it. If duplicates reveal it late,
/// it is also at least the present one.
pub(super) fn undo(
    signs: &AckInfo,
    before: &Before,
    evidence: Evidence,
    settings: &Settings,
) -> Undo {
    let late = evidence == Evidence::Duplicates;
    let pipe = before.flight_size.min(before.window.cwnd);
    let pipe = pipe.max(before.window.ssthresh);
    let initial = settings.initial_window.bytes(signs.mss);
    let mut cwnd = signs.outstanding + signs.advanced.min(initial);
    if late {
        cwnd = cwnd.max(signs.window.cwnd);
    }
    if late || before.cause == Congestion::FastRetransmit {
        cwnd = cwnd.min(before.window.cwnd.max(signs.window.cwnd));
    }
    Undo {
        window: Window {
            cwnd,
            ssthresh: signs.window.ssthresh.max(pipe),
        },
        marks: LostMarks::Cleared,
        adapts_rto: before.cause == Congestion::Timeout,
        evidence,
    }
}

impl Actions {
    /// Raises the threshold to the number of segments from the late one to the highest that had arrived (RFC
    /// 3522, section 3.2, step 6); never lowers it.
    #[must_use]
    pub(super) fn raise_to(self, extent: u64, signs: &AckInfo) -> Actions {
        let extent = extent.min(MAX_THRESHOLD) as u32;
        match extent > signs.threshold {
            true => self.raise(extent),
            false => self,
        }
    }
}

/// Extent of reordering of the late segment at this offset, in an episode: by selective acknowledgements up
/// to the end of the highest, otherwise by counting duplicates.
pub(super) fn extent(late: u64, highest_sacked: u64, signs: &AckInfo, settings: &Settings) -> u64 {
    match settings.sack {
        true => highest_sacked.saturating_sub(late) / signs.mss,
        false => u64::from(signs.duplicates) + 1,
    }
}
