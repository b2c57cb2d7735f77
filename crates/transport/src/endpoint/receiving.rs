//! Processing of a received segment: checks, acknowledgement, payload.

use ropewalk_quantities::Time;

use crate::connection::{Connection, record};
use crate::endpoint::persist::PersistTimer;
use crate::endpoint::{Endpoint, MAX_SUBFLOWS, Role};
use crate::event::{DuplicateArrived, OutOfOrderArrived, Recorder, TraceEvent};
use crate::receiver::DataOrder;
use crate::reordering::{DataInfo, ReorderingPolicy};
use crate::segment::{Flags, Options, Segment};
use crate::subflow::{State, Subflow};

impl Endpoint {
    #[inline(never)]
    pub(super) fn take_segment<R: Recorder>(
        &mut self,
        now: Time,
        subflow: usize,
        segment: &Segment,
        recorder: &mut R,
    ) {
        if subflow >= self.subflows.len() {
            if self.handshake.role == Role::Client || subflow >= MAX_SUBFLOWS {
                return;
            }
            self.grow_to(subflow + 1, State::Listen);
        }
        self.mark_ready(subflow);
        if self.misses_options(subflow, segment) && !self.handle_missing_options(subflow) {
            return;
        }
        let plain = self.subflows[subflow].state == State::Established
            && !segment.flags.contains(Flags::SYN)
            && !segment.flags.contains(Flags::RST)
            && !matches!(segment.options, Options::MpJoin { .. });
        if !plain && !self.handle_handshake(now, subflow, segment) {
            self.update_fast_path(subflow);
            return;
        }
        if !self.discard_old(subflow, segment) {
            self.handle_ack(now, subflow, segment, recorder);
            self.handle_payload(now, subflow, segment, recorder);
        }
        self.update_fast_path(subflow);
    }

    /// Discards an old segment (PAWS); returns whether it was old. One with data is acknowledged (RFC 7323,
    /// 5.3, R1); a pure acknowledgement is not. An old duplicate acknowledgement that changes no window is
    /// accepted, as in Linux (`tcp_disordered_ack`).
    fn discard_old(&mut self, subflow: usize, segment: &Segment) -> bool {
        let flow = &mut self.subflows[subflow];
        if !flow.receiver.is_old(segment) {
            return false;
        }
        let has_data = segment.sequence_len() > 0;
        let edge = match self.handshake.multipath {
            true => segment.data_ack,
            false => segment.ack.saturating_sub(1),
        };
        let repeats = segment.seq == flow.receiver.nxt
            && segment.ack == flow.sender.una
            && !self.tx.moves_window(edge + u64::from(segment.window));
        if !has_data && repeats {
            return false;
        }
        if has_data {
            flow.receiver.answer_old(segment);
            self.output.acks.insert(subflow);
        }
        flow.sender.counters.discarded_as_old += 1;
        true
    }

    #[inline]
    fn handle_ack<R: Recorder>(
        &mut self,
        now: Time,
        subflow: usize,
        segment: &Segment,
        recorder: &mut R,
    ) {
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        let flow = &mut self.subflows[subflow];
        if segment.ack > flow.sender.nxt {
            // It acknowledges data that were never sent (RFC 9293, 3.10.7.4).
            flow.receiver.acknowledge_now();
            self.output.acks.insert(subflow);
            return;
        }
        if flow.sender.is_idle()
            && segment.ack == flow.sender.una
            && !matches!(segment.options, Options::Sack(_))
            && self.tx.is_idle()
            && (self.handshake.fully_established || !self.handshake.multipath)
        {
            // For a pure receiver, an acknowledgement with data contains no news but the window.
            let window = self.data_ack_window(subflow, segment, false);
            self.tx.on_window(self.tx.una + window);
            return;
        }
        let had_backoff = flow.sender.backoff() > 0;
        let una = flow.sender.una;
        let mut connection = Connection {
            now,
            controller: &mut self.controller,
            table: &mut self.table,
            subflow,
            cwnd_limited: self.queues.is_cwnd_limited(subflow),
            recorder,
        };
        if flow.sender.on_ack(segment, &mut connection) {
            self.cancel_reinjection(subflow);
        }
        self.note_recovery(subflow);
        let flow = &self.subflows[subflow];
        self.timers.note(flow.sender.timer_at());
        if had_backoff && flow.sender.backoff() == 0 && flow.sender.una > una {
            self.table[subflow].usable = flow.fin.is_none();
        }
        if self.handshake.multipath {
            if segment.flags.contains(Flags::DATA_ACK) {
                let window = self.data_ack_window(subflow, segment, segment.ack > una);
                if self.tx.on_ack(segment.data_ack, window) > 0 {
                    self.on_data_acknowledged(now);
                }
                if !self.handshake.fully_established {
                    self.handshake.fully_established = true;
                    self.join_all();
                }
            }
        } else {
            self.tx
                .on_ack(segment.ack.saturating_sub(1), u64::from(segment.window));
        }
        if self.tx.blocked {
            self.expand_send_buffer(subflow);
        }
        if self.tx.closed || flow_closing(&self.subflows[subflow]) {
            self.advance_close(now, subflow);
        }
        if !self.timers.persist.is_off() && self.tx.window() > 0 {
            self.timers.persist = PersistTimer::OFF;
        }
        self.output.data = true;
    }

    #[inline]
    pub(super) fn note_recovery(&mut self, subflow: usize) {
        let is_recovering = self.table[subflow].in_recovery;
        self.output.recovering.set(subflow, is_recovering);
    }

    #[inline]
    fn handle_payload<R: Recorder>(
        &mut self,
        now: Time,
        subflow: usize,
        segment: &Segment,
        recorder: &mut R,
    ) {
        let data_fin = segment.flags.contains(Flags::DATA_FIN);
        let empty = segment.sequence_len() == 0 && !data_fin;
        if segment.flags.contains(Flags::DATA_SEQ_64)
            && !self.handshake.base_flags.contains(Flags::DATA_ACK_64)
        {
            self.acknowledge_in_64_bits();
        }
        let shares_as_linux = self.shares_as_linux();
        let flow = &mut self.subflows[subflow];
        if empty && segment.seq == flow.receiver.nxt {
            flow.receiver.note_timestamp(segment);
            return;
        }
        let len = u64::from(segment.len);
        if len > 0 && segment.data_seq + len > self.rx.edge && !shares_as_linux {
            // Beyond the window: neither accepted nor acknowledged (RFC 9293, 3.10.7.4).
            flow.receiver.acknowledge_now();
            self.output.acks.insert(subflow);
            return;
        }
        if len > 0 && flow.sender.reordering.is_on() {
            let signs = DataInfo {
                now,
                seq: segment.seq,
                end: segment.seq + len,
                sent: segment
                    .flags
                    .contains(Flags::TIMESTAMPS)
                    .then_some(segment.ts_val),
                number: segment.number(),
                expected: flow.receiver.nxt,
                highest: flow.receiver.highest(),
            };
            if flow.sender.reordering.on_data(&signs) {
                flow.receiver.report_out_of_order();
            }
        }
        if len > 0 {
            self.note_arrival(now, subflow, segment);
        }
        // Plain TCP: data behind a gap are already counted in its subflow.
        let alone = !self.handshake.multipath && self.subflows.len() == 1;
        let flow = &mut self.subflows[subflow];
        let mut new = 0;
        let rx = &mut self.rx;
        let in_order = rx.nxt;
        let expected = flow.receiver.nxt;
        let holds_data = len > 0 && !flow.receiver.is_next(segment);
        if holds_data && !alone {
            rx.begin_hold();
        }
        let arrival = flow.receiver.on_segment(now, segment, |data_seq, len| {
            new += rx.on_data(data_seq, len)
        });
        match arrival {
            DataOrder::InOrder => {}
            DataOrder::OutOfOrder => record(recorder, now, subflow, || {
                TraceEvent::OutOfOrderArrived(OutOfOrderArrived {
                    seq: segment.seq,
                    len: segment.len,
                    expected,
                })
            }),
            DataOrder::Duplicate => record(recorder, now, subflow, || {
                TraceEvent::DuplicateArrived(DuplicateArrived {
                    seq: segment.seq,
                    len: segment.len,
                })
            }),
        }
        if holds_data && alone {
            rx.set_held(flow.receiver.behind_gap());
        }
        if len > 0 && (new > 0 || arrival == DataOrder::OutOfOrder) {
            self.reordering_counters.count(true);
            if rx.nxt == in_order {
                if !alone {
                    rx.hold(segment.data_seq, len);
                }
                self.reordering_counters.count_out_of_order(rx.held());
            }
        }
        if holds_data && !alone {
            self.rx.end_hold();
        }
        let flow = &mut self.subflows[subflow];
        flow.delivered += new;
        if data_fin {
            self.rx.on_fin(segment.data_seq + len);
            flow.receiver.acknowledge_now();
        }
        if flow.receiver.ack_now {
            self.output.acks.insert(subflow);
        } else {
            self.timers.note(flow.receiver.ack_at);
        }
        if segment.flags.contains(Flags::FIN)
            || flow.receiver.finished()
            || data_fin
            || self.rx.finished()
        {
            self.on_end_of_stream(now, subflow);
        }
    }
}

fn flow_closing(flow: &Subflow) -> bool {
    flow.fin.is_some() || flow.receiver.finished()
}
