//! Tail loss probes: transmission, and evaluation of the acknowledgement (RFC 8985, section 7).

use super::Sender;
use crate::SubflowState;
use crate::acknowledgement::Acknowledgement;
use crate::connection::Connection;
use crate::event::Recorder;
use crate::loss::{Probe, TIMER_SLACK};
use crate::recovery::Phase;
use crate::retransmission_timer::Purpose;
use ropewalk_quantities::Time;

/// Largest delay of the acknowledgement of a single segment (TCP_RTO_MIN).
const MAX_ACK_DELAY: Time = Time::from_millis(200);

impl Sender {
    /// Restarts the timer after an acknowledgement, while data are outstanding.
    #[inline]
    pub(crate) fn restart_timer(&mut self, now: Time, state: &SubflowState) {
        self.restart_timer_for(now, self.may_probe(), state);
    }

    /// The same, if it is known whether a probe may be sent.
    #[inline(always)]
    pub(super) fn restart_timer_for(&mut self, now: Time, probes: bool, state: &SubflowState) {
        let timeout = now + self.rto.current();
        if probes {
            self.arm(
                Purpose::Probe,
                (now + self.probe_timeout(state)).min(timeout),
            );
        } else {
            self.arm(Purpose::Timeout, timeout);
        }
    }

    #[inline]
    pub(crate) fn put_off_probe(&mut self, now: Time, state: &SubflowState) {
        if self.may_probe() {
            self.arm_probe(now, state);
        }
    }

    #[inline(always)]
    pub(super) fn arm_probe(&mut self, now: Time, state: &SubflowState) {
        let at = (now + self.probe_timeout(state)).min(self.timeout_of_oldest(now));
        self.arm(Purpose::Probe, at);
    }

    /// Starts the retransmission timer as of the last transmission of the oldest segment.
    pub(crate) fn arm_since_oldest(&mut self, now: Time) {
        self.arm(Purpose::Timeout, self.timeout_of_oldest(now));
    }

    /// Handles the probe's timer: returns whether to send a probe. At most one is outstanding.
    pub(crate) fn on_probe_timeout(&mut self, now: Time) -> bool {
        let send = self.loss.probe.sent.is_none() && !self.board.is_empty();
        if self.board.is_empty() {
            self.disarm();
        } else {
            self.arm_since_oldest(now);
        }
        send
    }

    pub(crate) fn on_probe_sent(&mut self, now: Time, retransmission: bool) {
        self.counters.tail_loss_probes += 1;
        self.loss.probe.sent = Some(Probe {
            end: self.nxt,
            retransmission,
        });
        self.arm(Purpose::Timeout, now + self.rto.current());
    }

    /// TLP_process_ack(): whether the probe repaired a loss that was not detected otherwise (7.4).
    #[inline]
    pub(crate) fn process_probe_ack<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        connection: &mut Connection<'_, R>,
    ) {
        let Some(probe) = self.loss.probe.sent else {
            return;
        };
        let una = ack.segment.ack;
        if una < probe.end {
            return;
        }
        let answered = ack
            .dsack()
            .is_some_and(|(_, end)| self.loss.probe.is_answered_by(end));
        let duplicate = ack.advanced == 0 && ack.delivered.sacked == 0;
        if !probe.retransmission || answered {
            self.loss.probe.forget();
        } else if una > probe.end {
            self.loss.probe.forget();
            let flight_size = self.flight_size(connection.own().mss) + ack.delivered.bytes;
            self.reduce_after_probe(flight_size, connection);
        } else if duplicate && ack.segment.sequence_len() == 0 {
            self.loss.probe.forget();
        }
    }

    /// Whether nothing hints at a loss; otherwise recovery sends the needed segments.
    #[inline]
    fn may_probe(&self) -> bool {
        self.loss.probe.on
            && self.sack
            && self.recovery.phase == Phase::Open
            && self.board.sacked == 0
            && self.board.lost == 0
    }

    /// TLP_calc_PTO(), without its bound by the retransmission timer (7.2).
    #[inline]
    fn probe_timeout(&self, state: &SubflowState) -> Time {
        if state.srtt == Time::ZERO {
            return self.rto.current();
        }
        let slack = if self.board.len() == 1 {
            MAX_ACK_DELAY
        } else {
            TIMER_SLACK
        };
        state.srtt * 2 + slack
    }

    #[inline]
    fn timeout_of_oldest(&self, now: Time) -> Time {
        let since = self.board.first().map_or(now, |oldest| oldest.sent);
        (since + self.rto.current()).max(now + Time::from_nanos(1))
    }
}
