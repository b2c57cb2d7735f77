//! Runs the loss detectors for an acknowledgement, or when a timer expires.

use super::Sender;
use crate::acknowledgement::Acknowledgement;
use crate::connection::{Connection, record};
use crate::event::{self, LossSign, Recorder, TraceEvent};
use crate::loss::{DupAckContext, LossVerdict, RackContext};
use crate::recovery::{Phase, Restored};
use crate::scoreboard::Sent;

impl Sender {
    pub(crate) fn detect_by_count<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        restored: Restored,
        connection: &mut Connection<'_, R>,
    ) -> LossVerdict {
        if restored == Restored::All || self.loss.ignores_losses_until(ack.now).is_some() {
            return LossVerdict::default();
        }
        let known = DupAckContext {
            phase: self.recovery.phase,
            point: self.recovery.point,
            una: self.una,
            sack: self.sack,
            mss: connection.own().mss,
            cwnd: connection.own().cwnd,
        };
        let mut lost = |sent: &Sent, sign| record_lost(connection, sent, sign);
        self.loss
            .duplicates
            .judge(ack, &known, &mut self.board, &mut lost)
    }

    #[inline(always)]
    pub(crate) fn detect_by_time<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        restored: Restored,
        connection: &mut Connection<'_, R>,
    ) -> LossVerdict {
        if self.recovery.is_over(ack) {
            match self.recovery.phase {
                Phase::Recovery => self.leave_recovery(connection),
                Phase::Open | Phase::Loss => self.end_loss_phase(connection),
            }
            self.loss.rack.on_recovered();
        }
        self.loss.rack.on_delivered(ack.now, ack.delivered);
        if let Some((_, end)) = ack.dsack()
            && !self.loss.probe.is_answered_by(end)
        {
            self.loss.rack.on_dsack(self.una, self.nxt);
        }
        if restored == Restored::All || self.loss.ignores_losses_until(ack.now).is_some() {
            return LossVerdict::default();
        }
        self.search_by_time(false, connection)
    }

    /// Runs RACK: if segments have arrived since the last time, or `always`.
    #[inline(always)]
    pub(crate) fn search_by_time<R: Recorder>(
        &mut self,
        always: bool,
        connection: &mut Connection<'_, R>,
    ) -> LossVerdict {
        let Connection {
            now,
            table,
            subflow,
            recorder,
            ..
        } = connection;
        let context = RackContext {
            now: *now,
            recovering: self.recovery.phase != Phase::Open,
            threshold: self.loss.duplicates.threshold,
            state: &table[*subflow],
        };
        let mut lost = |sent: &Sent| {
            record(*recorder, *now, *subflow, || {
                lost_by(sent, LossSign::Overtaken)
            });
        };
        let (rack, board) = (&mut self.loss.rack, &mut self.board);
        if always {
            rack.search(&context, board, &mut lost)
        } else {
            rack.judge(&context, board, &mut lost)
        }
    }
}

pub(crate) fn record_lost<R: Recorder>(
    connection: &mut Connection<'_, R>,
    sent: &Sent,
    sign: LossSign,
) {
    connection.record(|| lost_by(sent, sign));
}

fn lost_by(sent: &Sent, sign: LossSign) -> TraceEvent {
    TraceEvent::SegmentLost(event::SegmentLost {
        seq: sent.seq,
        len: sent.len,
        sign,
    })
}
