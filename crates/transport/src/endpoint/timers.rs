//! An endpoint's timers.

use ropewalk_quantities::Time;

use crate::connection::Connection;
use crate::endpoint::Endpoint;
use crate::endpoint::data_timer::DataTimer;
use crate::endpoint::persist::PersistTimer;
use crate::event::Recorder;
use crate::retransmission_timer::Purpose;
use crate::scheduling::SubflowSet;
use crate::subflow::{State, Subflow};

/// Retransmissions of a SYN, or of any later segment, before the subflow fails (Linux: tcp_syn_retries,
/// tcp_retries2).
const SYN_RETRIES: u32 = 6;
const RETRIES: u32 = 15;

/// Timers of the connection, except for those of its subflows and of the DATA_FIN.
#[derive(Debug)]
pub(super) struct Timers {
    earliest: Time,
    pub(super) persist: PersistTimer,
    pub(super) data: DataTimer,
    scheduler_at: Time,
}

impl Timers {
    pub(super) const OFF: Timers = Timers {
        earliest: Time::MAX,
        persist: PersistTimer::OFF,
        data: DataTimer::OFF,
        scheduler_at: Time::MAX,
    };

    #[inline]
    pub(super) fn note(&mut self, at: Time) {
        self.earliest = self.earliest.min(at);
    }

    pub(super) fn call_scheduler(&mut self, at: Time) {
        self.scheduler_at = self.scheduler_at.min(at);
        self.note(self.scheduler_at);
    }

    fn next(&self) -> Time {
        let own = self.persist.at.min(self.data.at);
        own.min(self.scheduler_at)
    }
}

impl Endpoint {
    pub(super) fn run_timers<R: Recorder>(&mut self, now: Time, recorder: &mut R) {
        for subflow in 0..self.subflows.len() {
            let flow = &mut self.subflows[subflow];
            flow.receiver.on_timeout(now);
            if flow.receiver.ack_now {
                self.output.acks.insert(subflow);
            }
            if flow.time_wait_until <= now {
                flow.time_wait_until = Time::MAX;
                flow.state = State::Closed;
            }
            if flow.sender.timer_at() <= now {
                let purpose = flow.sender.timer.purpose;
                self.mark_ready(subflow);
                match purpose {
                    Purpose::Timeout => self.time_out(now, subflow, recorder),
                    Purpose::Reordering => self.handle_reordering_timeout(now, subflow, recorder),
                    Purpose::Probe => {
                        let sender = &mut self.subflows[subflow].sender;
                        if sender.on_probe_timeout(now) {
                            self.output.probes.insert(subflow);
                        }
                        self.output.data = true;
                    }
                }
                self.update_fast_path(subflow);
            }
        }
        if self.tx.fin_at <= now {
            self.tx.fin_at = Time::MAX;
            self.output.data = true;
        }
        if self.timers.persist.at <= now {
            self.probe_window(now);
        }
        if self.timers.data.at <= now {
            self.retransmit_data(now);
        }
        if self.timers.scheduler_at <= now {
            self.timers.scheduler_at = Time::MAX;
            self.output.data = true;
        }
        self.timers.earliest = self
            .subflows
            .iter()
            .map(Subflow::next_timer)
            .fold(self.timers.next().min(self.tx.fin_at), Time::min);
    }

    fn time_out<R: Recorder>(&mut self, now: Time, subflow: usize, recorder: &mut R) {
        let flow = &mut self.subflows[subflow];
        let backoff = flow.sender.backoff();
        match flow.state {
            State::SynSent | State::SynReceived | State::PreEstablished => {
                let retries = if flow.state == State::PreEstablished {
                    RETRIES
                } else {
                    SYN_RETRIES
                };
                if backoff >= retries {
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
                self.output.control.insert(subflow);
            }
            State::Established => {
                if backoff >= RETRIES {
                    flow.pending.rst = true;
                    self.output.control.insert(subflow);
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
                if in_doubt && !self.is_single() {
                    self.table[subflow].usable = false;
                    self.reinject_from(subflow);
                }
                self.output.data = true;
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
        self.output.data = true;
    }

    /// Zero-window probe (RFC 9293, 3.8.6.1).
    fn probe_window(&mut self, now: Time) {
        self.timers.persist.expire();
        let Some(subflow) = self.table.iter().position(|state| state.usable) else {
            return;
        };
        if self.tx.unsent() == 0 {
            return;
        }
        self.subflows[subflow].pending.probe = true;
        self.fast_path = SubflowSet::NONE;
        self.output.control.insert(subflow);
        self.timers.persist.count_probe();
        self.arm_persist(now, subflow);
    }

    pub(super) fn arm_persist(&mut self, now: Time, subflow: usize) {
        let rto = self.subflows[subflow].sender.rto();
        self.fast_path = SubflowSet::NONE;
        self.timers.persist.start(now, rto, self.config.rto.max);
        self.timers.note(self.timers.persist.at);
    }

    /// Latest time for the next [`handle_timeout`](Endpoint::handle_timeout); it may be earlier than needed,
    /// which is harmless. Changes with each call that changes the endpoint.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Time> {
        (self.timers.earliest != Time::MAX).then_some(self.timers.earliest)
    }
}
