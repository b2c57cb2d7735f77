//! Spurious losses: calls the reordering policy, and carries out its answer.

use ropewalk_quantities::Time;

use super::Sender;
use crate::acknowledgement::Acknowledgement;
use crate::congestion::{Congestion, CongestionControl};
use crate::connection::Connection;
use crate::event::{self, Recorder, TraceEvent};
use crate::recovery::{Before, Phase, Restored};
use crate::reordering::{AckInfo, Actions, Evidence, Loss, LostMarks, ReorderingPolicy, Undo};
use crate::rtt::SpuriousRtoState;
use crate::segment::{Flags, Segment};

impl Sender {
    /// Saves the state before a reduction, if no loss was known.
    pub(super) fn save_before_loss<R: Recorder>(
        &mut self,
        cause: Congestion,
        flight_size: u64,
        connection: &mut Connection<'_, R>,
    ) {
        if self.recovery.phase != Phase::Open {
            return;
        }
        connection.controller.save(connection.subflow);
        let (time, window) = (connection.now, connection.window());
        let own = connection.own();
        self.recovery.before = Some(Box::new(Before {
            cause,
            time,
            window,
            flight_size,
            una: self.una,
            nxt: self.nxt,
            srtt: own.srtt,
            rttvar: own.rttvar,
            backoff: self.rto.backoff,
            acked_since_loss: own.acked_since_loss,
            acked_between_losses: own.acked_between_losses,
        }));
    }

    pub(super) fn notify_policy_of_loss(&mut self, cause: Congestion, now: Time, mss: u64) {
        if self.reordering.is_on() {
            self.reordering.on_loss(&Loss {
                now,
                cause,
                una: self.una,
                nxt: self.nxt,
                copies_in_flight: self.board.retransmitted,
                mss,
                before: self.recovery.before.as_deref().copied(),
            });
        }
    }

    /// Passes an acknowledgement to the reordering policy, and carries out its answer. Returns the restored
    /// parts. The smoothed RTT is the one before it.
    pub(crate) fn consult_policy<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        srtt: Time,
        connection: &mut Connection<'_, R>,
    ) -> Restored {
        let duplicate_report = ack.dsack();
        let signs = AckInfo {
            advanced: ack.advanced,
            sacked: ack.delivered.sacked,
            // Without SACK an acknowledgement of a retransmission also covers the data behind the gap; as in
            // Linux (`tcp_clean_rtx_queue`).
            original: ack.delivered.original && (self.sack || !ack.delivered.retransmitted),
            late: ack.delivered.late,
            duplicate_report,
            answers_probe: duplicate_report
                .is_some_and(|(_, end)| self.loss.probe.is_answered_by(end)),
            srtt,
            ..self.signs(ack.segment, connection)
        };
        self.ask(&signs, connection)
    }

    /// Handles an acknowledgement below the first unacknowledged offset: it was reordered.
    pub(crate) fn on_old_ack<R: Recorder>(
        &mut self,
        segment: &Segment,
        connection: &mut Connection<'_, R>,
    ) -> bool {
        let signs = AckInfo {
            out_of_order: true,
            ..self.signs(segment, connection)
        };
        let undone = self.ask(&signs, connection).is_any();
        if undone {
            if !self.board.is_empty() {
                self.restart_timer(connection.now, connection.own());
            }
            self.publish(connection.own());
        }
        undone
    }

    /// The state of the sender for the policy; for an acknowledgement without information.
    fn signs<R: Recorder>(&self, segment: &Segment, connection: &mut Connection<'_, R>) -> AckInfo {
        let (now, window) = (connection.now, connection.window());
        let own = connection.own();
        AckInfo {
            now,
            ack: segment.ack,
            una: self.una,
            nxt: self.nxt,
            point: self.recovery.point,
            advanced: 0,
            sacked: 0,
            original: false,
            late: None,
            number: segment.number().filter(|_| segment.len == 0),
            duplicate_report: None,
            answers_probe: false,
            echo: segment
                .flags
                .contains(Flags::TIMESTAMPS)
                .then_some(segment.ts_ecr),
            out_of_order: false,
            peer_reported_out_of_order: segment.flags.contains(Flags::OUT_OF_ORDER),
            phase: self.recovery.phase,
            before: self.recovery.before.as_deref().copied(),
            window,
            outstanding: self.board.outstanding,
            pipe: self.board.pipe(),
            sacked_in_all: self.board.sacked,
            highest_sacked: self.board.highest_sacked,
            retransmission_in_flight: self.board.retransmitted > 0,
            duplicates: self.loss.duplicates.count,
            threshold: self.loss.duplicates.threshold,
            mss: own.mss,
            srtt: own.srtt,
        }
    }

    fn ask<R: Recorder>(
        &mut self,
        signs: &AckInfo,
        connection: &mut Connection<'_, R>,
    ) -> Restored {
        let answer = self.reordering.on_ack(signs);
        if answer == Actions::NOTHING {
            self.recovery.new_first = 0;
            self.recovery.limit = u64::MAX;
            return Restored::Nothing;
        }
        self.recovery.new_first = answer.send_new;
        self.recovery.limit = answer.limit.unwrap_or(u64::MAX);
        if let Some(sign) = answer.reordering_sign {
            self.loss.rack.reordering_seen = true;
            self.counters.reordering_by[sign as usize] += 1;
        }
        if let Some(threshold) = answer.threshold {
            self.set_threshold(threshold, connection);
        }
        if let Some(remark) = answer.remark {
            connection.record(|| TraceEvent::Remarked(remark));
        }
        if let Some(freeze) = answer.freeze {
            self.loss.freeze(freeze.until, freeze.retransmits);
            let until = freeze.until;
            connection.record(|| TraceEvent::Frozen(event::Frozen { until }));
        }
        match (answer.undo, self.recovery.before.take()) {
            (Some(undo), Some(before)) => {
                self.undo(&undo, &before, connection);
                match undo.marks {
                    LostMarks::Cleared => Restored::All,
                    LostMarks::Repaired | LostMarks::Reconsidered | LostMarks::Kept => {
                        Restored::Windows
                    }
                }
            }
            (_, before) => {
                self.recovery.before = before;
                match answer.window {
                    Some(window) if self.recovery.phase == Phase::Open => {
                        let own = connection.own();
                        own.cwnd = window.cwnd.max(own.mss);
                        own.ssthresh = window.ssthresh;
                        Restored::WindowsSet
                    }
                    _ => Restored::Nothing,
                }
            }
        }
    }

    pub(super) fn set_threshold<R: Recorder>(
        &mut self,
        threshold: u32,
        connection: &mut Connection<'_, R>,
    ) {
        if self.loss.duplicates.set_threshold(threshold) {
            let to = self.loss.duplicates.threshold;
            self.counters.threshold_max = self.counters.threshold_max.max(to);
            connection.record(|| TraceEvent::ThresholdChanged(event::ThresholdChanged { to }));
        }
    }

    fn undo<R: Recorder>(
        &mut self,
        undo: &Undo,
        before: &Before,
        connection: &mut Connection<'_, R>,
    ) {
        let from = connection.window();
        connection.controller.restore(connection.subflow);
        let own = connection.own();
        own.cwnd = undo.window.cwnd.max(own.mss);
        own.ssthresh = undo.window.ssthresh;
        // As if there had been no loss: everything acknowledged since then counts.
        own.acked_since_loss = before.acked_since_loss + (self.una - before.una);
        own.acked_between_losses = before.acked_between_losses;
        self.rto.limit_backoff(before.backoff);
        if undo.adapts_rto {
            self.spurious_rto = SpuriousRtoState {
                from: self.nxt,
                srtt: before.srtt,
                rttvar: before.rttvar,
            };
        }
        self.recovery.keeps_window = true;
        let mut unmarked = 0;
        if undo.marks != LostMarks::Repaired {
            self.recovery.phase = Phase::Open;
            self.recovery.force = false;
            self.loss.duplicates.forget();
            if undo.marks != LostMarks::Kept {
                unmarked = self.board.unmark_lost();
                self.loss.rack.passed_to = 0;
            }
        }
        if undo.evidence == Evidence::Duplicates {
            self.loss.rack.on_dsack_undo();
        }
        self.counters.count_undone(before.cause, undo.evidence);
        let (cause, to) = (before.cause, connection.window());
        connection.record(|| {
            TraceEvent::Undone(event::Undone {
                cause,
                before: from,
                after: to,
                evidence: undo.evidence,
                unmarked,
            })
        });
    }
}
