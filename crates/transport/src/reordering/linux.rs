//! What Linux does (net/ipv4/tcp_input.c, 6.x): undo when the timestamps say that what arrived was late,
//! when D-SACK has reported all that was sent again, or when after a timeout something is
//! acknowledged that was never sent again (F-RTO with SACK, RFC 5682, 3.1).

use ropewalk_quantities::Time;

use super::restore::MOST_THRESHOLD;
use super::{
    AckSigns, Answer, Before, Evidence, Loss, Phase, ReorderingPolicy, Resent, Settings, Undo,
};
use crate::algorithm::algorithm;
use crate::congestion::Congestion;
use crate::event::Window;

algorithm! {
    /// Linux's undo: by timestamps, by D-SACK, and after timeouts by F-RTO; windows are as before
    /// the loss.
    pub struct LinuxConfig: "linux", "Linux 6.x, net/ipv4/tcp_input.c (tcp_may_undo and its callers)", [] {}
}

impl LinuxConfig {
    /// For one subflow.
    pub fn build(self, settings: &Settings) -> Linux {
        Linux {
            settings: *settings,
            marker: 0,
            unreported: None,
            resent_at: None,
            runs_frto: false,
            timed_out: false,
        }
    }
}

/// What the kernel keeps for an undo.
#[derive(Clone, Copy, Debug)]
pub struct Linux {
    settings: Settings,
    /// First offset that was not acknowledged when the episode began (undo_marker).
    marker: u64,
    /// Segments sent again of which no copy has been reported; `None` before the first (undo_retrans).
    unreported: Option<u64>,
    /// When the first segment of the episode was sent again (retrans_stamp).
    resent_at: Option<Time>,
    /// A timeout may still be for nothing (frto).
    runs_frto: bool,
    /// The last loss was found by a timeout.
    timed_out: bool,
}

impl Linux {
    /// tcp_packet_delayed(): what arrived was sent before anything was sent again.
    fn is_late(&self, signs: &AckSigns) -> bool {
        let echo = signs.echo.filter(|_| self.settings.timestamps);
        let (Some(echo), Some(resent_at)) = (echo, self.resent_at) else {
            return false;
        };
        echo < resent_at
    }

    /// tcp_may_undo()
    fn may_undo(&self, signs: &AckSigns) -> bool {
        self.unreported == Some(0) || self.is_late(signs)
    }

    /// A report of a duplicate is of something that was sent again in this episode (tcp_check_dsack,
    /// tcp_sacktag_one).
    fn take_report(&mut self, signs: &AckSigns) {
        if let (Some((start, end)), Some(unreported)) =
            (signs.duplicate_report, &mut self.unreported)
            && end > self.marker
        {
            let segments = (end - start).div_ceil(signs.mss);
            *unreported = unreported.saturating_sub(segments);
        }
    }

    /// tcp_process_loss()
    fn after_timeout(&mut self, signs: &AckSigns, before: &Before) -> Answer {
        if signs.advanced > 0 && self.may_undo(signs) {
            return self.undo(signs, before, Evidence::LateAfterTimeout);
        }
        if !self.runs_frto {
            return Answer::NOTHING;
        }
        let beyond = signs.ack > signs.point || signs.highest_sacked > signs.point;
        if signs.original && !beyond {
            // Step 3b.
            return self.undo(signs, before, Evidence::NeverResent);
        }
        let sent_new = signs.nxt > signs.point;
        if sent_new {
            // Step 3a: the loss was real.
            self.runs_frto &= signs.sacked == 0;
        } else if signs.advanced > 0 && signs.ack < signs.point {
            // Step 2b: new data first, as much as the window lets out.
            return Answer {
                send_new: u32::MAX,
                ..Answer::NOTHING
            };
        }
        Answer::NOTHING
    }

    /// In fast recovery: at its end, where a segment was late (tcp_try_undo_recovery and
    /// tcp_try_undo_partial), or all that was sent again is reported (tcp_try_undo_dsack).
    fn in_recovery(&mut self, signs: &AckSigns, before: &Before) -> Answer {
        if signs.una >= signs.point {
            return match self.may_undo(signs) {
                true => self.undo(signs, before, Evidence::AtTheEnd),
                false => Answer::NOTHING,
            };
        }
        if signs.advanced > 0 && self.is_late(signs) {
            let una = signs.una - signs.advanced;
            let extent = signs.highest_sacked.saturating_sub(una).div_ceil(signs.mss);
            let threshold = extent.min(MOST_THRESHOLD) as u32;
            let seen = Answer {
                threshold: (threshold > signs.threshold).then_some(threshold),
                saw_reordering: extent > 0,
                ..Answer::NOTHING
            };
            if signs.resent_in_flight {
                return seen;
            }
            return Answer {
                undo: self.undo(signs, before, Evidence::Late).undo,
                ..seen
            };
        }
        match self.unreported {
            Some(0) => self.undo(signs, before, Evidence::Duplicates),
            _ => Answer::NOTHING,
        }
    }

    /// tcp_undo_cwnd_reduction()
    fn undo(&mut self, signs: &AckSigns, before: &Before, evidence: Evidence) -> Answer {
        self.unreported = None;
        self.resent_at = None;
        self.runs_frto = false;
        // tcp_current_ssthresh(): where nothing is repaired, it is not far below the window.
        let cwnd = before.window.cwnd;
        let ssthresh = before.window.ssthresh.max(cwnd / 2 + cwnd / 4);
        Answer::undo(Undo {
            window: Window {
                cwnd: signs.window.cwnd.max(cwnd),
                ssthresh: signs.window.ssthresh.max(ssthresh),
            },
            ends_recovery: true,
            renews_timeout: false,
            evidence,
        })
    }
}

impl ReorderingPolicy for Linux {
    fn rests(&self) -> bool {
        true
    }

    fn on_ack(&mut self, signs: &AckSigns) -> Answer {
        let Some(before) = signs.before.filter(|_| !signs.out_of_order) else {
            return Answer::NOTHING;
        };
        if !signs.answers_probe {
            self.take_report(signs);
        }
        match signs.phase {
            Phase::Loss => self.after_timeout(signs, &before),
            Phase::Recovery => self.in_recovery(signs, &before),
            Phase::Open if self.unreported == Some(0) => {
                self.undo(signs, &before, Evidence::Duplicates)
            }
            Phase::Open => Answer::NOTHING,
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let is_timeout = loss.cause == Congestion::Timeout;
        // tcp_enter_loss()
        self.runs_frto = is_timeout && self.settings.sack && (loss.is_first() || self.timed_out);
        self.timed_out = is_timeout;
        if loss.is_first() {
            self.marker = loss.una;
            self.unreported = None;
            self.resent_at = None;
        }
    }

    fn on_retransmit(&mut self, resent: &Resent) {
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
        self.resent_at.get_or_insert(resent.now);
    }
}
