//! An endpoint's timers.

use ropewalk_quantities::Time;

use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::event::Recorder;
use crate::retransmission_timer::Purpose;
use crate::subflow::{State, Subflow};

/// Retransmissions of a SYN, or of data, before the subflow is given up (Linux: tcp_syn_retries,
/// tcp_retries2).
const SYN_RETRIES: u32 = 6;
const RETRIES: u32 = 15;

impl Endpoint {
    pub(super) fn run_timers<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        for subflow in 0..self.subflows.len() {
            let flow = &mut self.subflows[subflow];
            flow.receiver.on_timeout(now);
            if flow.receiver.ack_due() {
                self.acks |= 1 << subflow;
            }
            if flow.time_wait_until <= now {
                flow.time_wait_until = Time::MAX;
                flow.state = State::Closed;
            }
            if flow.sender.timer_at() <= now {
                let purpose = flow.sender.timer_purpose();
                self.ask_again(subflow);
                match purpose {
                    Purpose::Timeout => self.time_out(now, subflow, recorder),
                    Purpose::Reordering => self.handle_reordering_timeout(now, subflow, recorder),
                    Purpose::Probe => {
                        let sender = &mut self.subflows[subflow].sender;
                        self.probing |= u64::from(sender.on_probe_timeout(now)) << subflow;
                        self.may_send = true;
                    }
                }
                self.settle(subflow);
            }
        }
        if self.tx.fin_at <= now {
            self.tx.fin_at = Time::MAX;
            self.may_send = true;
        }
        if self.persist.at() <= now {
            self.probe_window(now);
        }
        if self.data_timer.at() <= now {
            self.retransmit_data(now);
        }
        if self.scheduler_at <= now {
            self.scheduler_at = Time::MAX;
            self.may_send = true;
        }
        let own = [self.persist.at(), self.tx.fin_at, self.scheduler_at];
        let own = own.into_iter().fold(self.data_timer.at(), Time::min);
        self.timer = self
            .subflows
            .iter()
            .map(Subflow::next_timer)
            .fold(own, Time::min);
    }

    fn time_out<R: Recorder>(&mut self, now: Time, subflow: usize, recorder: &mut R) {
        let flow = &mut self.subflows[subflow];
        let backoff = flow.sender.backoff();
        match flow.state {
            State::SynSent | State::SynReceived | State::PreEstablished => {
                if backoff >= SYN_RETRIES {
                    self.fail_subflow(subflow);
                    return;
                }
                flow.sender.back_off_handshake();
                flow.handshake_sent = None;
                if flow.state == State::PreEstablished {
                    flow.pending.third = true;
                } else {
                    flow.pending.syn = true;
                }
                self.control |= 1 << subflow;
            }
            State::Established => {
                if backoff >= RETRIES {
                    flow.pending.rst = true;
                    self.control |= 1 << subflow;
                    self.fail_subflow(subflow);
                    return;
                }
                let mut connection = Connection {
                    now,
                    controller: &mut self.controller,
                    table: &mut self.table,
                    subflow,
                    cwnd_limited: true,
                    recorder,
                };
                let in_doubt = flow.sender.on_timeout(&mut connection);
                self.note_recovery(subflow);
                if in_doubt && self.subflows.len() > 1 {
                    self.table[subflow].usable = false;
                    self.reinject_from(subflow);
                }
                self.may_send = true;
            }
            State::Closed | State::Listen | State::TimeWait => flow.sender.disarm(),
        }
    }

    fn handle_reordering_timeout<R: Recorder>(
        &mut self,
        now: Time,
        subflow: usize,
        recorder: &mut R,
    ) {
        let mut connection = Connection {
            now,
            controller: &mut self.controller,
            table: &mut self.table,
            subflow,
            cwnd_limited: true,
            recorder,
        };
        self.subflows[subflow]
            .sender
            .on_reordering_timeout(&mut connection);
        self.note_recovery(subflow);
        self.may_send = true;
    }

    /// Zero-window probe (RFC 9293, 3.8.6.1).
    fn probe_window(&mut self, now: Time) {
        self.persist.expire();
        let Some(subflow) = self.table.iter().position(|state| state.usable) else {
            return;
        };
        if self.tx.unsent() == 0 {
            return;
        }
        self.subflows[subflow].pending.probe = true;
        self.settled = 0;
        self.control |= 1 << subflow;
        self.persist.count_probe();
        self.arm_persist(now, subflow);
    }

    pub(super) fn arm_persist(&mut self, now: Time, subflow: usize) {
        let rto = self.subflows[subflow].sender.rto();
        self.settled = 0;
        self.persist.start(now, rto, self.config.rto.max);
        self.timer = self.timer.min(self.persist.at());
    }

    /// When [`handle_timeout`](Endpoint::handle_timeout) must be called at the latest; it may be earlier than
    /// needed, which does no harm. Changes with each call that changes the endpoint.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        (self.timer != Time::MAX).then_some(self.timer)
    }
}
