//! Loss recovery: entered when a detector has found a loss or the retransmission timer expires; retransmits
//! in proportion to the delivered data.

use super::Sender;
use super::detection::record_lost;
use crate::acknowledgement::Acknowledgement;
use crate::congestion::Congestion;
use crate::connection::Connection;
use crate::event::{self, LossSign, Recorder, ReductionCause, TraceEvent};
use crate::loss::{DEFAULT_DUP_THRESH, LossVerdict, TIMER_SLACK};
use crate::recovery::{Phase, Prr, Restored};
use crate::reordering::ReorderingPolicy;
use crate::retransmission_timer::Purpose;
use crate::subflow_state::SubflowState;

impl Sender {
    /// Detects losses by counting (RFC 5681, 6582, 6675), and reacts.
    #[inline(never)]
    pub(crate) fn judge_by_count<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        restored: Restored,
        connection: &mut Connection<'_, R>,
    ) {
        let found = self.detect_by_count(ack, restored, connection);
        self.respond_by_count(ack, &found, restored, connection);
    }

    fn respond_by_count<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        found: &LossVerdict,
        restored: Restored,
        connection: &mut Connection<'_, R>,
    ) {
        let frozen = restored.is_any() || self.loss.is_frozen(ack.now);
        let over = self.recovery.is_over(ack);
        match self.recovery.phase {
            Phase::Open if found.loss => self.enter_recovery(connection),
            Phase::Open => {
                let in_order = !found.duplicate || self.window.grow_in_disorder;
                let grows = !frozen && !restored.sets_windows();
                if ack.advanced > 0 && in_order && grows {
                    // RFC 3465, 2.1: all cumulatively acknowledged bytes, unless selectively acknowledged
                    // ones have grown the window before.
                    let bytes = match self.window.grow_in_disorder {
                        true => ack.fresh(),
                        false => ack.advanced,
                    };
                    self.grow(bytes, ack.segment, connection);
                }
            }
            Phase::Recovery if over => self.leave_recovery(connection),
            Phase::Recovery => self.recovery.force |= found.partial,
            Phase::Loss => {
                if over {
                    self.end_loss_phase(connection);
                }
                if ack.advanced > 0 && !frozen {
                    // Selectively acknowledged bytes must not count twice. Without SACK they are unknown; RFC
                    // 3465, 2.3, counts at most a segment.
                    let most = if self.sack {
                        u64::MAX
                    } else {
                        connection.own().mss
                    };
                    self.grow(ack.fresh().min(most), ack.segment, connection);
                }
            }
        }
        if self.recovery.phase == Phase::Recovery && self.recovery.use_prr && !frozen {
            let delivered = if self.sack {
                ack.fresh()
            } else if ack.advanced > 0 {
                ack.advanced
            } else {
                connection.own().mss
            };
            self.proportional_rate_reduction(delivered, ack.advanced > 0, connection);
        }
    }

    #[inline(always)]
    pub(crate) fn respond_by_time<R: Recorder>(
        &mut self,
        ack: &Acknowledgement<'_>,
        found: &LossVerdict,
        restored: Restored,
        connection: &mut Connection<'_, R>,
    ) {
        let frozen = restored.is_any() || self.loss.is_frozen(ack.now);
        match self.recovery.phase {
            Phase::Open if found.loss => self.enter_recovery(connection),
            Phase::Loss if found.copy_lost => self.enter_recovery(connection),
            Phase::Open | Phase::Loss if self.may_grow(ack) && !frozen => {
                self.grow(ack.fresh(), ack.segment, connection);
            }
            Phase::Open | Phase::Loss | Phase::Recovery => {}
        }
        let reduces = self.recovery.phase == Phase::Recovery && self.recovery.use_prr;
        if reduces && ack.fresh() > 0 && !frozen {
            // As in Linux (`tcp_cwnd_reduction`): at most the delivered amount, while losses are found.
            let progress = ack.advanced > 0 && !found.more;
            self.proportional_rate_reduction(ack.fresh(), progress, connection);
        }
        if let Some(wait) = found.wait {
            let wait = (wait + TIMER_SLACK).min(self.rto.current());
            self.arm(Purpose::Reordering, ack.now + wait);
        }
    }

    /// As in Linux (`tcp_may_raise_cwnd`): with known reordering, a gap does not stop growth.
    #[inline(always)]
    fn may_grow(&self, ack: &Acknowledgement<'_>) -> bool {
        ack.advanced > 0
            || ack.delivered.sacked > 0 && self.loss.duplicates.threshold > DEFAULT_DUP_THRESH
    }

    /// Handles the reordering timer (RFC 8985, 6.3; `tcp_rack_reo_timeout`).
    pub(crate) fn on_reordering_timeout<R: Recorder>(
        &mut self,
        connection: &mut Connection<'_, R>,
    ) {
        let now = connection.now;
        if let Some(until) = self.loss.ignores_losses_until(now) {
            self.arm(Purpose::Reordering, until);
            return;
        }
        let pipe_before = self.board.pipe();
        self.search_by_time(true, connection);
        if self.board.pipe() != pipe_before {
            if self.recovery.phase != Phase::Recovery {
                self.enter_recovery(connection);
                if self.recovery.use_prr {
                    let mss = connection.own().mss;
                    self.proportional_rate_reduction(mss, false, connection);
                }
            }
            self.recovery.force = true;
        }
        self.arm_since_oldest(now);
        self.publish(connection.own());
    }

    /// Handles the retransmission timer. Returns whether the subflow may have failed, which it has not in a
    /// freeze.
    pub(crate) fn on_timeout<R: Recorder>(&mut self, connection: &mut Connection<'_, R>) -> bool {
        let now = connection.now;
        self.disarm();
        if self.board.is_empty() {
            // Nothing is in flight, but data may have to be reinjected.
            return true;
        }
        if let Some(until) = self.loss.ignores_losses_until(now) {
            self.arm(Purpose::Timeout, until);
            return false;
        }
        self.counters.timeouts += 1;
        let frozen = self.loss.is_frozen(now);
        let flight_size = self.flight_to_reduce(connection.own());
        let before = connection.window();
        // RFC 5681, section 3.1: ssthresh does not change while the same data time out again; in Linux also
        // if recovery has reduced it for them (`tcp_enter_loss`).
        let repeated = self.una < self.recovery.point
            && match self.recovery.phase {
                Phase::Open => false,
                Phase::Recovery => self.window.reduce_cwnd,
                Phase::Loss => self.rto.backoff > 0,
            };
        if !repeated {
            self.save_before_loss(Congestion::Timeout, flight_size, connection);
            if !frozen {
                self.reduce(Congestion::Timeout, flight_size, connection);
            }
        }
        self.recovery.begin(Phase::Loss, self.nxt, frozen);
        self.loss.duplicates.forget();
        self.loss.probe.forget();
        // Measured reordering is no longer valid.
        self.set_threshold(0, connection);
        let (rack, board) = (&self.loss.rack, &mut self.board);
        board.mark_all_lost(|sent| rack.is_recent(sent, now), &mut |sent| {
            record_lost(connection, sent, LossSign::Timeout)
        });
        if !frozen {
            self.rto.back_off();
            let own = connection.own();
            own.cwnd = self.board.pipe() + own.mss;
        }
        self.publish(connection.own());
        let (after, consecutive) = (connection.window(), self.rto.backoff);
        connection.record(|| {
            TraceEvent::TimedOut(event::TimedOut {
                before,
                after,
                consecutive,
            })
        });
        self.notify_policy_of_loss(Congestion::Timeout, now, connection.own().mss);
        !frozen
    }

    /// The amount to reduce from: FlightSize, or the value of a reordering policy, which then is the window
    /// as well.
    fn flight_to_reduce(&mut self, own: &mut SubflowState) -> u64 {
        match self.reordering.reduces_from() {
            Some(flight_size) => {
                own.cwnd = flight_size.max(own.mss);
                flight_size
            }
            None => self.flight_size(own.mss),
        }
    }

    /// Lets congestion control reduce the window: from the data in flight, or from the window.
    fn reduce<R: Recorder>(
        &self,
        cause: Congestion,
        flight_size: u64,
        connection: &mut Connection<'_, R>,
    ) {
        if !self.window.reduce_cwnd {
            return connection.on_congestion(cause, flight_size);
        }
        // Linux counts windows in whole segments, before and after.
        let own = connection.own();
        let whole = own.cwnd - own.cwnd % own.mss;
        connection.on_congestion(cause, whole);
        let own = connection.own();
        own.ssthresh -= own.ssthresh % own.mss;
    }

    fn enter_recovery<R: Recorder>(&mut self, connection: &mut Connection<'_, R>) {
        self.counters.fast_recoveries += 1;
        let frozen = self.loss.is_frozen(connection.now);
        let flight_size = self.flight_to_reduce(connection.own());
        let before = connection.window();
        self.save_before_loss(Congestion::FastRetransmit, flight_size, connection);
        if !frozen {
            self.reduce(Congestion::FastRetransmit, flight_size, connection);
        }
        self.recovery.begin(Phase::Recovery, self.nxt, frozen);
        self.loss.probe.forget();
        self.recovery.prr = Prr::new(self.board.outstanding);
        let own = connection.own();
        if !self.recovery.use_prr && !frozen {
            own.cwnd = own.ssthresh;
        }
        let (after, until) = (connection.window(), self.recovery.point);
        connection.record(|| {
            TraceEvent::RecoveryEntered(event::RecoveryEntered {
                before,
                after,
                flight_size,
                until,
            })
        });
        let (now, mss) = (connection.now, connection.own().mss);
        self.notify_policy_of_loss(Congestion::FastRetransmit, now, mss);
    }

    pub(crate) fn leave_recovery<R: Recorder>(&mut self, connection: &mut Connection<'_, R>) {
        self.recovery.phase = Phase::Open;
        self.loss.duplicates.forget();
        if !self.recovery.keeps_window && !self.loss.is_frozen(connection.now) {
            let own = connection.own();
            own.cwnd = if self.sack {
                own.ssthresh
            } else {
                // RFC 6582, 3.2, step 3, option 1: no burst after a full acknowledgement.
                own.ssthresh
                    .min(self.board.outstanding.max(own.mss) + own.mss)
            };
        }
        record_recovery_left(connection, false);
    }

    pub(crate) fn end_loss_phase<R: Recorder>(&mut self, connection: &mut Connection<'_, R>) {
        self.recovery.phase = Phase::Open;
        record_recovery_left(connection, true);
    }

    fn proportional_rate_reduction<R: Recorder>(
        &mut self,
        delivered: u64,
        progress: bool,
        connection: &mut Connection<'_, R>,
    ) {
        if self.recovery.keeps_window {
            return;
        }
        let own = connection.own();
        let pipe = self.pipe(own.mss);
        let send = self
            .recovery
            .prr
            .allowance(delivered, progress, pipe, own.ssthresh, own.mss);
        own.cwnd = pipe + send;
    }

    /// Reduces the window after a tail loss probe repaired a loss, although nothing is left to repair.
    pub(crate) fn reduce_after_probe<R: Recorder>(
        &mut self,
        flight_size: u64,
        connection: &mut Connection<'_, R>,
    ) {
        if self.loss.is_frozen(connection.now) {
            return;
        }
        let before = connection.window();
        self.recovery.before = None;
        self.reduce(Congestion::FastRetransmit, flight_size, connection);
        let own = connection.own();
        own.cwnd = own.ssthresh;
        let after = connection.window();
        connection.record(|| {
            TraceEvent::WindowReduced(event::WindowReduced {
                cause: ReductionCause::RepairedByProbe,
                before,
                after,
            })
        });
    }
}

fn record_recovery_left<R: Recorder>(connection: &mut Connection<'_, R>, after_timeout: bool) {
    let window = connection.window();
    connection.record(|| {
        TraceEvent::RecoveryLeft(event::RecoveryLeft {
            window,
            after_timeout,
        })
    });
}
