//! Runs the loss detectors for an acknowledgement, or when a timer expires.

use super::Sender;
use crate::acknowledgement::Acknowledgement;
use crate::connection::{Connection, record};
use crate::event::{self, Happening, LossSign, Recorder};
use crate::loss::{Found, Known, Surroundings};
use crate::recovery::{Phase, Restored};
use crate::scoreboard::Sent;

impl Sender {
    pub(crate) fn detect_by_count<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        restored: Restored,
        connection: &mut Connection<'_, R>,
    ) -> Found {
        if restored == Restored::All || self.loss.disbelieves_until(ack.now).is_some() {
            return Found::default();
        }
        let known = Known {
            phase: self.recovery.phase(),
            point: self.recovery.point(),
            una: self.una,
            sack: self.sack,
            mss: connection.own().mss,
            cwnd: connection.own().cwnd,
        };
        let mut lost = |sent: &Sent, sign| tell_lost(connection, sent, sign);
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
    ) -> Found {
        if self.recovery.is_over(ack) {
            match self.recovery.phase() {
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
        if restored == Restored::All || self.loss.disbelieves_until(ack.now).is_some() {
            return Found::default();
        }
        self.search_by_time(false, connection)
    }

    /// Runs RACK: if segments have arrived since the last time, or `anyway`.
    #[inline(always)]
    pub(crate) fn search_by_time<R: Recorder>(
        &mut self,
        anyway: bool,
        connection: &mut Connection<'_, R>,
    ) -> Found {
        let Connection {
            now,
            table,
            subflow,
            recorder,
            ..
        } = connection;
        let around = Surroundings {
            now: *now,
            recovering: self.recovery.phase() != Phase::Open,
            threshold: self.loss.duplicates.threshold(),
            state: &table[*subflow],
        };
        let mut lost = |sent: &Sent| {
            record(*recorder, *now, *subflow, || {
                lost_by(sent, LossSign::Overtaken)
            });
        };
        let (rack, board) = (&mut self.loss.rack, &mut self.board);
        if anyway {
            rack.search(&around, board, &mut lost)
        } else {
            rack.judge(&around, board, &mut lost)
        }
    }
}

pub(crate) fn tell_lost<R: Recorder>(
    connection: &mut Connection<'_, R>,
    sent: &Sent,
    sign: LossSign,
) {
    connection.record(|| lost_by(sent, sign));
}

fn lost_by(sent: &Sent, sign: LossSign) -> Happening {
    Happening::SegmentLost(event::SegmentLost {
        seq: sent.seq,
        len: sent.len,
        sign,
    })
}
