//! What leaves next: control segments, retransmissions, reinjections, new data, acknowledgements.

use ropewalk_quantities::Time;

use crate::endpoint::{Endpoint, Role};
use crate::scheduling::{Choice, Pending, Scheduler};
use crate::scoreboard::Sent;
use crate::segment::{Flags, Options, Segment};
use crate::subflow::State;

impl Endpoint {
    /// The next segment to send now, and the subflow it leaves on. Changes after every other
    /// call; call it until it gives nothing.
    #[inline]
    #[must_use]
    pub fn poll_transmit(&mut self, now: Time) -> Option<(usize, Segment)> {
        if self.control != 0
            && let Some(control) = self.poll_control(now)
        {
            return Some(control);
        }
        if self.may_send {
            if let Some(data) = self.poll_data(now) {
                return Some(data);
            }
            self.may_send = false;
        }
        if self.acks != 0 {
            let subflow = self.acks.trailing_zeros() as usize;
            return Some((subflow, self.ack_segment(now, subflow)));
        }
        None
    }

    fn poll_control(&mut self, now: Time) -> Option<(usize, Segment)> {
        while self.control != 0 {
            let subflow = self.control.trailing_zeros() as usize;
            let flow = &mut self.subflows[subflow];
            let pending = flow.pending;
            if pending.rst {
                flow.pending = Default::default();
                let mut segment = self.ack_segment(now, subflow);
                segment.flags = segment.flags.with(Flags::RST);
                segment.options = if self.multipath && self.closed_told {
                    Options::MpFastClose { receiver_key: self.remote_key }
                } else {
                    Options::None
                };
                self.shut_subflow(subflow);
                return Some((subflow, segment));
            }
            if pending.syn {
                flow.pending.syn = false;
                return Some((subflow, self.syn_segment(now, subflow)));
            }
            if pending.third {
                flow.pending.third = false;
                let waits = flow.state == State::PreEstablished;
                if waits {
                    flow.sender.arm_handshake(now);
                    self.timer = self.timer.min(flow.sender.rto_at());
                }
                let mut segment = self.ack_segment(now, subflow);
                segment.options = self.third_option(subflow);
                if segment.options != Options::None {
                    // MP_CAPABLE and MP_JOIN leave no room for a DSS option.
                    segment.flags = segment.flags.without(Flags::DATA_ACK);
                }
                return Some((subflow, segment));
            }
            if pending.fin {
                flow.pending.fin = false;
                return Some((subflow, self.fin_segment(now, subflow)));
            }
            if pending.probe {
                flow.pending.probe = false;
                let mut segment = self.ack_segment(now, subflow);
                segment.seq = segment.seq.saturating_sub(1);
                return Some((subflow, segment));
            }
            self.control &= !(1 << subflow);
        }
        None
    }

    fn poll_data(&mut self, now: Time) -> Option<(usize, Segment)> {
        for subflow in 0..self.subflows.len() {
            let state = &mut self.table[subflow];
            if state.in_recovery
                && let Some(sent) = self.subflows[subflow].sender.poll_retransmit(now, state)
            {
                return Some(self.sent_segment(now, subflow, &sent));
            }
        }
        if !self.tx.reinject.is_empty()
            && let Some(reinjected) = self.poll_reinjection(now)
        {
            return Some(reinjected);
        }
        if let Some(queued) = self.poll_queued(now) {
            return Some(queued);
        }
        match self.poll_new_data(now) {
            Some(new) => Some(new),
            None => self.poll_when_idle(now),
        }
    }

    /// Data that a scheduler put on several subflows at once.
    fn poll_queued(&mut self, now: Time) -> Option<(usize, Segment)> {
        for subflow in 0..self.subflows.len() {
            while let Some(&(data_seq, len)) = self.subflows[subflow].queue.front() {
                let state = &mut self.table[subflow];
                let needed = data_seq + u64::from(len) > self.tx.una();
                if needed && (!state.usable || state.cwnd < state.in_flight + state.mss) {
                    break;
                }
                self.subflows[subflow].queue.pop_front();
                state.queued -= u64::from(len);
                if needed {
                    return Some(self.send_data(now, subflow, data_seq, len));
                }
            }
        }
        None
    }

    fn poll_new_data(&mut self, now: Time) -> Option<(usize, Segment)> {
        loop {
            let unsent = self.tx.unsent();
            if unsent == 0 {
                self.hold_by_data();
                return None;
            }
            let window = self.tx.window();
            let choice = if self.subflows.len() == 1 {
                if self.table[0].can_send() { Choice::Send(0) } else { Choice::Wait }
            } else {
                let pending = Pending { now, unsent, window, window_size: self.tx.window_size() };
                if window == 0 { Choice::Wait } else { self.scheduler.choose(&pending, &self.table) }
            };
            if window == 0 && choice == Choice::Wait {
                self.hold_by_window(now);
                return None;
            }
            match choice {
                Choice::Send(subflow) => {
                    let Some(len) = self.next_len(now, subflow) else {
                        self.hold_by_data();
                        return None;
                    };
                    let data_seq = self.tx.assign(len);
                    return Some(self.send_data(now, subflow, data_seq, len as u32));
                }
                Choice::SendOn(set) => {
                    let first = set.iter().next()?;
                    let Some(len) = self.next_len(now, first) else {
                        self.hold_by_data();
                        return None;
                    };
                    let data_seq = self.tx.assign(len);
                    for subflow in set.iter() {
                        self.subflows[subflow].queue.push_back((data_seq, len as u32));
                        self.table[subflow].queued += len;
                    }
                    if let Some(queued) = self.poll_queued(now) {
                        return Some(queued);
                    }
                }
                Choice::Wait => {
                    self.hold_by_cwnd();
                    return None;
                }
                Choice::WaitUntil(time) => {
                    self.scheduler_at = time;
                    self.timer = self.timer.min(time);
                    return None;
                }
            }
        }
    }

    /// How much the next segment carries, or that it must wait (RFC 1122, 4.2.3.4).
    #[inline]
    fn next_len(&mut self, now: Time, subflow: usize) -> Option<u64> {
        let unsent = self.tx.unsent();
        let window = self.tx.window();
        let mss = self.table[subflow].mss;
        let len = mss.min(unsent).min(window);
        if len == mss {
            return Some(len);
        }
        if len == unsent {
            let idle = self.tx.nxt() == self.tx.una();
            return (!self.config.nagle || idle || self.tx.closed()).then_some(len);
        }
        if len > 0 && len >= self.tx.window_max() / 2 {
            return Some(len);
        }
        self.hold_by_window(now);
        None
    }

    /// The peer's window is shut, or open by less than a segment: probe it when nothing is in flight.
    fn hold_by_window(&mut self, now: Time) {
        self.hold_by_data();
        self.scheduler.on_window_blocked();
        if self.persist_at == Time::MAX && self.subflows.iter().all(|flow| flow.sender.is_idle()) {
            self.arm_persist(now, 0);
        }
    }

    fn hold_by_data(&mut self) {
        for flow in &mut self.subflows {
            flow.sender.held_by_data();
        }
    }

    fn hold_by_cwnd(&mut self) {
        for (flow, state) in self.subflows.iter_mut().zip(&self.table) {
            if state.usable && !state.can_send() {
                flow.sender.held_by_cwnd();
            }
        }
    }

    /// New data, or none: what else may leave.
    fn poll_when_idle(&mut self, now: Time) -> Option<(usize, Segment)> {
        if self.tx.unsent() > 0 && self.tx.window() < self.table[0].mss {
            if self.subflows.len() > 1
                && let Some(again) = self.poll_opportunistic(now)
            {
                return Some(again);
            }
        }
        for subflow in 0..self.subflows.len() {
            let state = &mut self.table[subflow];
            if state.in_recovery
                && let Some(sent) = self.subflows[subflow].sender.poll_rescue(now, state)
            {
                return Some(self.sent_segment(now, subflow, &sent));
            }
        }
        if self.tx.closed() && self.tx.all_assigned() && self.established {
            return self.poll_end_of_stream(now);
        }
        None
    }

    fn poll_end_of_stream(&mut self, now: Time) -> Option<(usize, Segment)> {
        if !self.multipath {
            let flow = &self.subflows[0];
            let due = flow.state == State::Established && flow.fin.is_none();
            return due.then(|| (0, self.fin_segment(now, 0)));
        }
        if self.tx.fin_acked() || self.tx.fin_at != Time::MAX {
            return None;
        }
        // DATA_FIN went with the last data, if there was any: alone only when that is acknowledged.
        let subflow = self.table.iter().position(|state| state.usable)?;
        self.tx.fin_at = now + self.subflows[subflow].sender.rto();
        self.timer = self.timer.min(self.tx.fin_at);
        let mut segment = self.ack_segment(now, subflow);
        segment.flags = segment.flags.with(Flags::DATA_FIN);
        segment.data_seq = self.tx.end()?;
        Some((subflow, segment))
    }

    /// Sends a data range on a subflow for the first time there.
    #[inline]
    pub(crate) fn send_data(&mut self, now: Time, subflow: usize, data_seq: u64, len: u32) -> (usize, Segment) {
        let flow = &mut self.subflows[subflow];
        let sent = Sent::data(flow.sender.nxt(), len, data_seq, now);
        let initial = match flow.sender.is_idle() {
            true => self.initial_window(self.table[subflow].mss),
            false => u64::MAX,
        };
        let flow = &mut self.subflows[subflow];
        flow.sender.send_new(now, sent, initial, &mut self.table[subflow]);
        self.timer = self.timer.min(flow.sender.rto_at());
        self.sent_segment(now, subflow, &sent)
    }

    /// The segment of an entry of the scoreboard.
    #[inline]
    pub(crate) fn sent_segment(&mut self, now: Time, subflow: usize, sent: &Sent) -> (usize, Segment) {
        if sent.is_fin() {
            return (subflow, self.fin_at(now, subflow, sent.seq));
        }
        let flow = &self.subflows[subflow];
        self.timer = self.timer.min(flow.sender.rto_at());
        let mut segment = self.ack_segment(now, subflow);
        segment.seq = sent.seq;
        segment.len = sent.len;
        segment.data_seq = sent.data_seq;
        if self.multipath {
            // Timestamps and a DSS mapping leave no room for SACK blocks.
            segment.options = Options::None;
            if sent.seq == 1 && !self.fully_established && self.role == Role::Client {
                segment.options = self.third_option(0);
                // MP_CAPABLE and MP_JOIN leave no room for a DSS option.
                    segment.flags = segment.flags.without(Flags::DATA_ACK);
            } else if self.tx.end() == Some(sent.data_seq + u64::from(sent.len)) {
                segment.flags = segment.flags.with(Flags::DATA_FIN);
                self.tx.fin_at = now + self.subflows[subflow].sender.rto();
                self.timer = self.timer.min(self.tx.fin_at);
            }
        }
        (subflow, segment)
    }

    fn fin_segment(&mut self, now: Time, subflow: usize) -> Segment {
        let flow = &mut self.subflows[subflow];
        let seq = flow.sender.nxt();
        flow.fin = Some(seq);
        flow.sender.send_new(now, Sent::fin(seq, now), u64::MAX, &mut self.table[subflow]);
        self.table[subflow].usable = false;
        self.fin_at(now, subflow, seq)
    }

    fn fin_at(&mut self, now: Time, subflow: usize, seq: u64) -> Segment {
        self.timer = self.timer.min(self.subflows[subflow].sender.rto_at());
        let mut segment = self.ack_segment(now, subflow);
        segment.seq = seq;
        segment.flags = segment.flags.with(Flags::FIN);
        segment
    }

    /// An acknowledgement without data: what every segment starts from.
    #[inline]
    fn ack_segment(&mut self, now: Time, subflow: usize) -> Segment {
        self.acks &= !(1 << subflow);
        let window = self.rx.window().min(u64::from(u32::MAX)) as u32;
        let flow = &mut self.subflows[subflow];
        let mut flags = Flags::ACK;
        let mut blocks = 4;
        if self.config.timestamps {
            flags = flags.with(Flags::TIMESTAMPS);
            blocks = 3;
        }
        if self.multipath {
            flags = flags.with(Flags::DATA_ACK);
            // The DSS option takes the room of a block (of 40 bytes for all options).
            blocks -= 1;
        }
        let options = match flow.receiver.sack_list(blocks) {
            Some(list) => Options::Sack(list),
            None => Options::None,
        };
        let segment = Segment {
            seq: flow.sender.nxt(),
            ack: flow.receiver.nxt(),
            data_seq: 0,
            data_ack: self.rx.nxt() + u64::from(self.rx.finished()),
            ts_val: now,
            ts_ecr: flow.receiver.ts_recent(),
            len: 0,
            window,
            flags,
            options,
        };
        flow.receiver.acknowledged();
        segment
    }
}
