//! Closing of a connection and its subflows: FIN, DATA_FIN, RST, failure (RFC 9293; RFC 8684, 3.3.3 to 3.6).

use ropewalk_quantities::Time;

use crate::endpoint::Endpoint;
use crate::scheduling::SubflowSet;
use crate::subflow::{PendingControl, State};

impl Endpoint {
    pub(super) fn advance_close(&mut self, now: Time, subflow: usize) {
        if self.handshake.multipath && self.tx.fin_acked {
            self.fast_path = SubflowSet::NONE;
            self.tx.fin_at = Time::MAX;
            if self.rx.finished() {
                self.finish_subflows();
            }
        }
        let flow = &mut self.subflows[subflow];
        if flow.state == State::Established && flow.fin_acked() && flow.receiver.finished() {
            flow.state = State::TimeWait;
            flow.time_wait_until = now + crate::endpoint::TIME_WAIT;
            flow.release_memory();
            self.timers.note(flow.time_wait_until);
            self.table[subflow].usable = false;
        }
        let over = |flow: &crate::subflow::Subflow| {
            matches!(flow.state, State::TimeWait | State::Closed | State::Listen)
        };
        let open = self.events.connected && !self.events.closed;
        if open && self.subflows.iter().all(over) {
            self.events.closed();
            self.tx.reinject.release_memory();
            self.rx.release_memory();
        }
    }

    /// Handles a FIN or DATA_FIN that is now in order.
    pub(super) fn on_end_of_stream(&mut self, now: Time, subflow: usize) {
        if !self.handshake.multipath && self.subflows[subflow].receiver.finished() {
            self.rx.on_fin(self.rx.nxt);
        }
        if self.rx.finished() {
            self.events.eof();
        }
        self.advance_close(now, subflow);
    }

    fn finish_subflows(&mut self) {
        for number in 0..self.subflows.len() {
            let flow = &mut self.subflows[number];
            if flow.state == State::Established && flow.fin.is_none() && !flow.pending.fin {
                flow.pending.fin = true;
                self.output.control.insert(number);
            }
        }
    }

    /// Handles the failure of a subflow: its data are reinjected on the others, or the connection ends.
    pub(super) fn fail_subflow(&mut self, subflow: usize) {
        self.reinject_from(subflow);
        self.close_subflow(subflow);
        self.events.subflow_failed(subflow);
        let opening = |state| !matches!(state, State::Closed | State::Listen | State::TimeWait);
        if !self.subflows.iter().any(|flow| opening(flow.state)) {
            self.events.aborted();
        }
        self.output.data = true;
    }

    pub(super) fn close_subflow(&mut self, subflow: usize) {
        let flow = &mut self.subflows[subflow];
        flow.state = State::Closed;
        flow.pending = PendingControl {
            rst: flow.pending.rst,
            ..PendingControl::default()
        };
        flow.queue.clear();
        flow.sender.disarm();
        flow.receiver.acknowledged(0);
        flow.release_memory();
        self.fast_path.remove(subflow);
        self.changed.insert(subflow);
        self.output.acks.remove(subflow);
        self.output.recovering.remove(subflow);
        self.queues.empty(subflow);
        let state = &mut self.table[subflow];
        state.usable = false;
        state.queued = 0;
    }
}
