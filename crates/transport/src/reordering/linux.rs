//! Linux's detection of spurious losses (6.x, net/ipv4/tcp_input.c): undo if timestamps show that segments
//! were late, if D-SACK has reported everything retransmitted, or if after a timeout data are acknowledged
//! that were never retransmitted (F-RTO, RFC 5682). It also measures the extent of reordering.
//!
//! | undo | condition | segments marked lost |
//! | --- | --- | --- |
//! | partial (`tcp_try_undo_partial`) | in recovery, an acknowledgement of new data echoes a time before the first retransmission | in flight again |
//! | full (`tcp_try_undo_recovery`) | the same at the end of recovery, or all retransmissions are reported | stay lost |
//! | by D-SACK (`tcp_try_undo_dsack`) | all retransmissions are reported | stay lost: recovery begins again for them |
//! | loss (`tcp_try_undo_loss`) | after a timeout, one of the first two, or F-RTO | in flight again |
//!
//! In each case, RACK immediately examines the data then in flight.

use ropewalk_quantities::Time;

use super::{
    AckInfo, Actions, Before, Evidence, FrtoStep, Loss, LostMarks, Phase, Remark, ReorderingPolicy,
    ReorderingSign, Retransmission, Settings, Undo,
};
use crate::algorithm::algorithm;
use crate::congestion::{Congestion, Window};

algorithm! {
    /// Linux's detection of spurious losses by timestamps, D-SACK and, after timeouts, F-RTO. Restores the
    /// windows before the loss.
    pub struct LinuxConfig: "linux", "Linux 6.x, net/ipv4/tcp_input.c (tcp_may_undo and its callers)", [] {
        /// Largest DupThresh that measured reordering sets.
        max_reordering: integer(3, 1000) = 300, "net.ipv4.tcp_max_reordering; TCP_MAX_REORDERING is 127 before Linux 3.19";
    }
}

impl LinuxConfig {
    /// Creates the policy of one subflow.
    pub fn build(self, settings: &Settings) -> Linux {
        Linux {
            settings: *settings,
            max_reordering: self.max_reordering,
            marker: 0,
            unreported: None,
            retransmitted: 0,
            reported: 0,
            retransmitted_at: None,
            runs_frto: false,
            timed_out: false,
        }
    }
}

/// The kernel's state for an undo.
#[derive(Clone, Copy, Debug)]
pub struct Linux {
    settings: Settings,
    max_reordering: u64,
    /// First unacknowledged offset when the episode began (undo_marker).
    marker: u64,
    /// Retransmitted segments without a reported duplicate; `None` if there was no retransmission
    /// (undo_retrans).
    unreported: Option<u64>,
    /// Total retransmissions, and total reported duplicates (total_retrans, dsack_dups).
    retransmitted: u64,
    reported: u64,
    /// When the first segment of the episode was retransmitted (retrans_stamp).
    retransmitted_at: Option<Time>,
    /// A timeout may still be found spurious (frto).
    runs_frto: bool,
    timed_out: bool,
}

impl Linux {
    /// tcp_packet_delayed(): whether the arrived segment was sent before the first retransmission, if any.
    fn is_late(&self, signs: &AckInfo) -> bool {
        let Some(retransmitted_at) = self.retransmitted_at else {
            // Linux ignores a probe's retransmission here, and would undo the loss that it repaired.
            return self.unreported.is_none();
        };
        let echo = signs.echo.filter(|_| self.settings.timestamps);
        echo.is_some_and(|echo| echo < retransmitted_at)
    }

    /// tcp_may_undo()
    fn may_undo(&self, signs: &AckInfo) -> bool {
        self.unreported == Some(0) || self.is_late(signs)
    }

    /// Counts a reported duplicate that may be of a retransmission in this episode (tcp_dsack_seen,
    /// tcp_sacktag_one).
    fn take_report(&mut self, signs: &AckInfo) {
        let Some((start, end)) = signs.duplicate_report else {
            return;
        };
        let segments = (end - start).div_ceil(signs.mss);
        self.reported += segments;
        // If more duplicates were reported than retransmissions sent, the network duplicates segments.
        if self.reported <= self.retransmitted
            && end > self.marker
            && let Some(unreported) = &mut self.unreported
        {
            *unreported = unreported.saturating_sub(segments);
        }
    }

    /// tcp_check_sack_reordering(): the segment at this offset was reordered.
    fn note_late(&self, late: u64, sign: ReorderingSign, signs: &AckInfo) -> Actions {
        let extent = match self.settings.sack {
            true => signs.highest_sacked.max(signs.una).saturating_sub(late),
            // tcp_check_reno_reordering()
            false => signs.nxt.saturating_sub(late),
        };
        if extent == 0 {
            return Actions::NOTHING;
        }
        let threshold = extent.div_ceil(signs.mss).min(self.max_reordering) as u32;
        Actions {
            threshold: (threshold > signs.threshold).then_some(threshold),
            reordering_sign: Some(sign),
            ..Actions::NOTHING
        }
    }

    /// tcp_process_loss()
    fn after_timeout(&mut self, signs: &AckInfo, before: &Before) -> Actions {
        if signs.advanced > 0 && self.may_undo(signs) {
            return self.undo(signs, before, Evidence::LateAfterTimeout);
        }
        if !self.runs_frto {
            return Actions::NOTHING;
        }
        let beyond = signs.ack > signs.point || signs.highest_sacked > signs.point;
        if signs.original && !beyond {
            // Step 3b.
            let undone = self.undo(signs, before, Evidence::NeverResent);
            return undone.remark(Remark::Step(FrtoStep::Spurious));
        }
        let took = |step| Actions::NOTHING.remark(Remark::Step(step));
        let sent_new = signs.nxt > signs.point;
        if sent_new {
            // Step 3a: the loss was real.
            self.runs_frto = signs.sacked == 0 && signs.advanced > 0;
            return match self.runs_frto {
                true => Actions::NOTHING,
                false => took(FrtoStep::Confirmed),
            };
        }
        match signs.advanced {
            0 => Actions::NOTHING,
            // Step 2b: new data first, as much as the window allows.
            _ if signs.ack < signs.point => Actions {
                send_new: u32::MAX,
                ..took(FrtoStep::NewDataFirst)
            },
            _ => took(FrtoStep::Believed),
        }
    }

    /// In fast recovery: undoes at its end, if a segment was late (tcp_try_undo_recovery and
    /// tcp_try_undo_partial), or if everything retransmitted is reported (tcp_try_undo_dsack).
    fn in_recovery(&mut self, signs: &AckInfo, before: &Before) -> Actions {
        if signs.una >= signs.point {
            return match self.may_undo(signs) {
                true => self.undo(signs, before, Evidence::AtTheEnd),
                false => Actions::NOTHING,
            };
        }
        if signs.advanced > 0 && self.is_late(signs) {
            let seen = self.note_late(signs.una - signs.advanced, ReorderingSign::Echoed, signs);
            return match signs.retransmission_in_flight {
                // Until the fate of each retransmission is known, new segments are sent, and none is
                // retransmitted.
                true => Actions {
                    send_new: u32::MAX,
                    ..seen
                },
                false => Actions {
                    undo: self.undo(signs, before, Evidence::Late).undo,
                    ..seen
                },
            };
        }
        match self.unreported {
            Some(0) => self.undo(signs, before, Evidence::Duplicates),
            _ => Actions::NOTHING,
        }
    }

    /// tcp_undo_cwnd_reduction()
    fn undo(&mut self, signs: &AckInfo, before: &Before, evidence: Evidence) -> Actions {
        self.unreported = None;
        self.retransmitted_at = None;
        self.runs_frto = false;
        // tcp_current_ssthresh(): outside of recovery, it is close to the window.
        let cwnd = before.window.cwnd;
        let ssthresh = before.window.ssthresh.max(cwnd / 2 + cwnd / 4);
        Actions::undo(Undo {
            window: Window {
                cwnd: signs.window.cwnd.max(cwnd),
                ssthresh: signs.window.ssthresh.max(ssthresh),
            },
            marks: match evidence {
                Evidence::Duplicates | Evidence::AtTheEnd => LostMarks::Kept,
                _ => LostMarks::Reconsidered,
            },
            adapts_rto: false,
            evidence,
        })
    }
}

impl ReorderingPolicy for Linux {
    fn ignores_plain_acks(&self) -> bool {
        true
    }

    fn on_ack(&mut self, signs: &AckInfo) -> Actions {
        if !signs.answers_probe {
            self.take_report(signs);
        }
        let seen = match signs.late.filter(|_| self.settings.sack) {
            Some(late) => self.note_late(late, ReorderingSign::Acknowledged, signs),
            None => Actions::NOTHING,
        };
        let Some(before) = signs.before.filter(|_| !signs.out_of_order) else {
            return seen;
        };
        let answer = match signs.phase {
            Phase::Loss => self.after_timeout(signs, &before),
            Phase::Recovery => self.in_recovery(signs, &before),
            Phase::Open if self.unreported == Some(0) => {
                self.undo(signs, &before, Evidence::Duplicates)
            }
            Phase::Open => Actions::NOTHING,
        };
        Actions {
            threshold: answer.threshold.max(seen.threshold),
            reordering_sign: answer.reordering_sign.or(seen.reordering_sign),
            ..answer
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let is_timeout = loss.cause == Congestion::Timeout;
        // tcp_enter_loss()
        self.runs_frto = is_timeout && (loss.is_first() || self.timed_out);
        self.timed_out = is_timeout;
        if loss.is_first() {
            // tcp_init_undo(): retransmissions still in flight may be reported, too.
            let copies = loss.copies_in_flight.div_ceil(loss.mss);
            self.marker = loss.una;
            self.unreported = (copies > 0).then_some(copies);
            self.retransmitted_at = None;
        }
    }

    fn on_retransmit(&mut self, retransmitted: &Retransmission) {
        self.retransmitted += 1;
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
        self.retransmitted_at.get_or_insert(retransmitted.now);
    }
}
