//! Loss detection: what tells that segments are lost, apart from what is done then
//! ([`recovery`](crate::recovery)).
//!
//! A detector looks at an acknowledgement, or at the time when its timer runs out. It marks on the
//! scoreboard what it takes for lost, and gives a [`Found`]: whether that is a reason for recovery.
//! There are three: duplicate acknowledgements, RACK in their place, and the tail loss probe, which finds nothing itself but brings about an
//! acknowledgement from which the others do.

mod duplicate_acks;
mod rack;
mod tail_loss_probe;

use ropewalk_quantities::Time;

use crate::Config;
use crate::acknowledgement::Acknowledgement;
use crate::connection::{Connection, record};
use crate::event::{self, Happening, LossSign, Recorder};
use crate::recovery::Phase;
use crate::scoreboard::Sent;
use crate::sender::Sender;
use duplicate_acks::{DuplicateAcks, Known};
use rack::{Rack, Surroundings};
use tail_loss_probe::TailLossProbe;

/// What a timer of less than the retransmission timeout takes longer (Linux's TCP_TIMEOUT_MIN_US).
pub(crate) const TIMER_SLACK: Time = Time::from_millis(2);

/// What a detector gives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// There is a loss that was not known: recovery begins, if it is not under way.
    pub(crate) loss: bool,
    /// A retransmission was lost: after a timeout, recovery begins once more.
    pub(crate) copy_lost: bool,
    /// In recovery, the first segment is to be sent again at once.
    pub(crate) partial: bool,
    /// There is more lost than before, and the acknowledgement is no progress.
    pub(crate) more: bool,
    /// The acknowledgement is a duplicate.
    pub(crate) duplicate: bool,
    /// How long until all that is late, and not late enough to be lost, will be.
    pub(crate) wait: Option<Time>,
}

/// A sender's detectors.
#[derive(Clone, Debug)]
pub(crate) struct LossDetection {
    pub(crate) duplicates: DuplicateAcks,
    pub(crate) rack: Rack,
    pub(crate) probe: TailLossProbe,
    freeze: Freeze,
}

/// For a while nothing is taken for a sign of congestion.
#[derive(Clone, Copy, Debug)]
struct Freeze {
    until: Time,
    /// What is found lost is sent again all the same; if not, nothing is believed lost.
    resends: bool,
}

impl LossDetection {
    pub(crate) fn new(config: &Config) -> LossDetection {
        LossDetection {
            duplicates: DuplicateAcks::default(),
            rack: Rack::new(config.rack),
            probe: TailLossProbe::new(config.tail_loss_probe),
            freeze: Freeze {
                until: Time::ZERO,
                resends: false,
            },
        }
    }

    /// Until then windows and timeout stay as they are. A freeze that lasts longer stays.
    pub(crate) fn freeze(&mut self, until: Time, resends: bool) {
        if until > self.freeze.until {
            self.freeze = Freeze { until, resends };
        }
    }

    /// Windows and timeout stay as they are.
    #[inline]
    pub(crate) fn is_frozen(&self, now: Time) -> bool {
        now < self.freeze.until
    }

    /// No loss is believed until then, if that is still to come.
    #[inline]
    pub(crate) fn disbelieves_until(&self, now: Time) -> Option<Time> {
        (self.is_frozen(now) && !self.freeze.resends).then_some(self.freeze.until)
    }
}

impl Sender {
    /// By duplicate acknowledgements and the scoreboard (RFC 5681, 6582, 6675).
    pub(crate) fn detect_by_count<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        undone: bool,
        connection: &mut Connection<'_, R>,
    ) -> Found {
        if undone || self.loss.disbelieves_until(ack.now).is_some() {
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

    /// By when what arrived was sent (RFC 8985).
    #[inline(always)]
    pub(crate) fn detect_by_time<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        undone: bool,
        connection: &mut Connection<'_, R>,
    ) -> Found {
        if self.recovery.is_over(ack) {
            match self.recovery.phase() {
                Phase::Recovery => self.leave_recovery(connection),
                Phase::Open | Phase::Loss => self.end_loss_phase(connection),
            }
            self.loss.rack.on_recovered();
        }
        self.loss.rack.on_delivered(ack.now, &ack.delivered);
        if let Some((_, end)) = ack.dsack()
            && !self.loss.probe.is_answered_by(end)
        {
            self.loss.rack.on_dsack(self.una, self.nxt);
        }
        if undone || self.loss.disbelieves_until(ack.now).is_some() {
            return Found::default();
        }
        self.search_by_time(false, connection)
    }

    /// Has RACK look for losses: if segments arrived since it last did, or `anyway`.
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

/// A segment is taken for lost.
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
