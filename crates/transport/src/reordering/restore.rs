//! Which windows are restored where RFC 4015 says it, and how far apart segments were.

use super::{AckSigns, Answer, Before, Evidence, Marks, Settings, Undo};
use crate::congestion::Congestion;
use crate::event::Window;

/// Most duplicate acknowledgements that are waited for, whatever was seen
/// (Linux's `net.ipv4.tcp_max_reordering`).
pub(super) const MOST_THRESHOLD: u64 = 300;

/// The losses since then were none: windows as RFC 4015 restores them (section 3, steps 0, 8 and 9).
///
/// That RFC is of timeouts. After a fast retransmission the window is at most what it was; of
/// what duplicates tell late, after some of the window has been let out again, it is also not less
/// than now.
pub(super) fn undo(
    signs: &AckSigns,
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
        marks: Marks::Cleared,
        renews_timeout: before.cause == Congestion::Timeout,
        evidence,
    }
}

impl Answer {
    /// Wait for as many duplicate acknowledgements as there were segments from the late one to the
    /// one that had come farthest (RFC 3522, section 3.2, step 6); never for fewer than now.
    #[must_use]
    pub(super) fn raise_to(self, extent: u64, signs: &AckSigns) -> Answer {
        let extent = extent.min(MOST_THRESHOLD) as u32;
        match extent > signs.threshold {
            true => self.raise(extent),
            false => self,
        }
    }
}

/// How far segments were from the late one, which begins there, in an episode: with selective
/// acknowledgements to the end of the highest, else by counting duplicates.
pub(super) fn extent(late: u64, highest_sacked: u64, signs: &AckSigns, settings: &Settings) -> u64 {
    match settings.sack {
        true => highest_sacked.saturating_sub(late) / signs.mss,
        false => u64::from(signs.duplicates) + 1,
    }
}
