//! Fast paths (header prediction): the next data in order at a receiver without gaps, a cumulative
//! acknowledgement at a sender without losses, full segments that the windows allow.
//!
//! The bit of a subflow in `Endpoint::fast_path` is set while neither it nor its connection has anything to repair, close or negotiate. The
//! slow path updates a subflow's bit at its end; a closed window or the end of the stream clears all bits.
//! Each fast path examines the segment before it changes any state, and otherwise leaves it to the slow path.
//! Tests verify that both have the same effect (`tests/fast_path.rs`). With a recorder only the slow path is
//! used.

mod queued;

use ropewalk_quantities::Time;

use crate::congestion::CongestionControl;
use crate::endpoint::Endpoint;
use crate::segment::{Flags, Options, Segment};
use crate::subflow::State;

impl Endpoint {
    /// Updates the fast-path bit of a subflow. Call it last after changes.
    #[inline]
    pub(super) fn update_fast_path(&mut self, subflow: usize) {
        let allows_fast_path = self.allows_fast_path(subflow);
        self.fast_path.set(subflow, allows_fast_path);
    }

    fn allows_fast_path(&self, subflow: usize) -> bool {
        let (Some(flow), Some(state)) = (self.subflows.get(subflow), self.table.get(subflow))
        else {
            return false;
        };
        flow.receiver.allows_fast_path()
            && flow.sender.allows_fast_path()
            && flow.state == State::Established
            && flow.fin.is_none()
            && state.usable
            && !self.output.before_new_data().contains(subflow)
            && self.timers.persist.is_off()
            && (!self.handshake.multipath || self.handshake.fully_established && !self.tx.fin_acked)
    }

    /// Fast path of [`take_segment`](Endpoint::take_segment); returns false, without any effect, if it does
    /// not apply.
    #[inline(always)]
    pub(super) fn take_fast(&mut self, now: Time, subflow: usize, segment: &Segment) -> bool {
        let is_candidate = subflow < self.subflows.len()
            && self.fast_path.contains(subflow)
            && matches!(segment.options, Options::None)
            && self.has_base_flags(segment);
        if !is_candidate {
            return false;
        }
        debug_assert!(self.allows_fast_path(subflow));
        if segment.len > 0 {
            self.take_data_fast(now, subflow, segment)
        } else {
            self.take_ack_fast(now, subflow, segment)
        }
    }

    #[inline(always)]
    fn has_base_flags(&self, segment: &Segment) -> bool {
        segment.flags == self.handshake.base_flags
            || self.handshake.multipath && self.has_fast_mapping(segment)
    }

    /// Whether the mapping fits the fast path. With several subflows, data have a mapping, and each endpoint
    /// chooses the number of bits of its acknowledgements; the slow path handles the first 64-bit mapping.
    #[inline]
    fn has_fast_mapping(&self, segment: &Segment) -> bool {
        let wide = Flags::DATA_ACK_64;
        let own = self.handshake.base_flags;
        let mapping = Flags::DATA_SEQ_64.with(Flags::CHECKSUM);
        segment.flags.without(mapping.with(wide)) == own.without(wide)
            && (own.contains(wide) || !segment.flags.contains(Flags::DATA_SEQ_64))
    }

    #[inline(always)]
    fn take_data_fast(&mut self, now: Time, subflow: usize, segment: &Segment) -> bool {
        let flow = &mut self.subflows[subflow];
        let end = segment.data_seq + u64::from(segment.len);
        if segment.seq != flow.receiver.nxt || end > self.rx.edge {
            return false;
        }
        if segment.ack != flow.sender.una || !flow.sender.is_idle() || !self.tx.is_idle() {
            return self.take_data_with_ack_fast(now, subflow, segment);
        }
        if flow.receiver.is_old(segment) {
            return false;
        }
        if segment.flags.contains(Flags::NUMBERED)
            && let Some(door) = flow.sender.reordering.tcp_door()
            && !door.takes(segment.number)
        {
            return false;
        }
        let window = self.data_ack_window(subflow, segment, false);
        self.tx.on_window(self.tx.una + window);
        self.take_payload(now, subflow, segment);
        true
    }

    /// Handles them at an endpoint with unacknowledged data. Returns whether the acknowledgement fits the
    /// fast path; if not, there is no effect.
    #[inline(never)]
    fn take_data_with_ack_fast(&mut self, now: Time, subflow: usize, segment: &Segment) -> bool {
        let flow = &mut self.subflows[subflow];
        if self.tx.closed
            || flow.receiver.is_old(segment)
            || !flow.sender.reordering.skips_data_acks()
        {
            return false;
        }
        if segment.ack != flow.sender.una {
            if !self.take_new_ack(now, subflow, segment, false) {
                return false;
            }
        } else {
            if flow.sender.is_idle() {
                flow.sender.disarm();
            }
            self.timers.note(flow.sender.timer_at());
            self.after_ack(now, subflow, segment, false);
        }
        self.take_payload(now, subflow, segment);
        true
    }

    #[inline(always)]
    fn take_payload(&mut self, now: Time, subflow: usize, segment: &Segment) {
        let flow = &mut self.subflows[subflow];
        flow.receiver.take_next(now, segment);
        self.note_arrival(now, subflow, segment);
        let flow = &mut self.subflows[subflow];
        let (new, waits) = self.rx.take(segment.data_seq, u64::from(segment.len));
        flow.delivered += new;
        self.reordering_counters.count(new > 0);
        if flow.receiver.ack_now {
            self.output.acks.insert(subflow);
        } else {
            self.timers.note(flow.receiver.ack_at);
        }
        if self.handshake.multipath {
            self.mark_ready(subflow);
            if waits {
                self.reordering_counters.count_out_of_order(self.rx.held());
            }
            if self.rx.finished() {
                self.on_end_of_stream(now, subflow);
                self.update_fast_path(subflow);
            }
        }
    }

    #[inline]
    fn take_ack_fast(&mut self, now: Time, subflow: usize, segment: &Segment) -> bool {
        let ends = self
            .tx
            .end()
            .is_some_and(|end| self.data_ack(segment) > end);
        segment.seq == self.subflows[subflow].receiver.nxt
            && !ends
            && self.take_new_ack(now, subflow, segment, true)
    }

    /// The offset up to which a segment acknowledges the stream.
    #[inline(always)]
    fn data_ack(&self, segment: &Segment) -> u64 {
        match self.handshake.multipath {
            true => segment.data_ack,
            false => segment.ack.saturating_sub(1),
        }
    }

    /// Handles an acknowledgement, with or without data, of the oldest segments, all sent once. Returns
    /// false, without any effect, for any other.
    #[inline(always)]
    fn take_new_ack(
        &mut self,
        now: Time,
        subflow: usize,
        segment: &Segment,
        is_pure: bool,
    ) -> bool {
        let (flow, state) = (&mut self.subflows[subflow], &mut self.table[subflow]);
        let cwnd_limited = self.queues.is_cwnd_limited(subflow);
        let Some(acked) = flow.sender.take_fast(now, segment, cwnd_limited, state) else {
            return false;
        };
        if is_pure {
            flow.receiver.note_timestamp_fast(segment);
            if segment.flags.contains(Flags::NUMBERED)
                && let Some(door) = flow.sender.reordering.tcp_door()
            {
                door.take_ack(segment.ack, segment.number);
            }
        }
        let cwnd = self.controller.on_ack(subflow, &acked, &self.table);
        let state = &mut self.table[subflow];
        state.cwnd = cwnd;
        flow.sender.after_fast(now, state);
        self.timers.note(flow.sender.timer_at());
        if self.handshake.multipath {
            self.mark_ready(subflow);
        }
        self.after_ack(now, subflow, segment, true);
        true
    }

    /// Handles the connection's part of an acknowledgement after the subflow's.
    #[inline(always)]
    fn after_ack(&mut self, now: Time, subflow: usize, segment: &Segment, advances: bool) {
        let data_ack = self.data_ack(segment);
        let window = self.data_ack_window(subflow, segment, advances);
        if self.tx.on_ack(data_ack, window) > 0 && self.handshake.multipath {
            self.on_data_acknowledged(now);
        }
        if self.tx.blocked {
            self.expand_send_buffer(subflow);
        }
        self.output.data = true;
    }

    /// Whether there is nothing to send now, consistent with [`poll_transmit`](Endpoint::poll_transmit).
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.output.is_quiet()
    }

    /// Fast path of [`poll_transmit`](Endpoint::poll_transmit) for a single TCP's full segments, data queued
    /// on several subflows, and pure acknowledgements. `None`, with no effect that the slow path would not
    /// have, if there may be other output.
    #[inline(always)]
    pub(super) fn poll_fast(&mut self, now: Time, segment: &mut Segment) -> Option<Option<usize>> {
        if self.output.data {
            if self.fast_path.is_empty() {
                return None;
            }
            let sent = match self.handshake.multipath {
                true => self.send_queued(now, segment)?,
                false => self.send_fast(now, segment)?.then_some(0),
            };
            if sent.is_some() {
                return Some(sent);
            }
            self.output.data = false;
        }
        if self.is_quiet() {
            return Some(None);
        }
        let subflow = self.output.acks.first()?;
        if !self.output.control.is_empty() || !self.fast_path.contains(subflow) {
            return None;
        }
        let seq = self.subflows[subflow].sender.nxt;
        self.write_fast(now, subflow, seq, segment);
        Some(Some(subflow))
    }

    /// Sends the next full segment of a single TCP; returns whether the windows allowed one.
    #[inline(always)]
    fn send_fast(&mut self, now: Time, segment: &mut Segment) -> Option<bool> {
        let ([flow], [state]) = (&mut self.subflows[..], &mut self.table[..]) else {
            return None;
        };
        let unsent = self.tx.unsent();
        if unsent == 0 {
            if self.tx.closed {
                return None;
            }
            self.queues.limit_by_data();
            return Some(false);
        }
        if unsent < state.mss || self.tx.window() < state.mss {
            return None;
        }
        if state.room() < state.mss {
            self.queues.limit_by_cwnd(0);
            return Some(false);
        }
        let (len, data_seq) = (state.mss as u32, self.tx.nxt);
        let seq = flow.sender.send_fast(now, len, data_seq, state)?;
        self.tx.assign(state.mss);
        state.assigned += state.mss;
        self.timers.note(flow.sender.timer_at());
        self.write_fast(now, 0, seq, segment);
        segment.len = len;
        segment.data_seq = data_seq;
        Some(true)
    }

    /// [`write_ack`](Endpoint::write_ack) for in-order data only.
    #[inline(always)]
    fn write_fast(&mut self, now: Time, subflow: usize, seq: u64, segment: &mut Segment) {
        let flow = &mut self.subflows[subflow];
        self.output.acks.remove(subflow);
        segment.seq = seq;
        segment.ack = flow.receiver.nxt;
        segment.data_seq = 0;
        segment.data_ack = self.rx.nxt + u64::from(self.rx.finished());
        segment.ts_val = now;
        segment.ts_ecr = flow.receiver.ts_recent;
        segment.len = 0;
        segment.flags = self.handshake.base_flags;
        segment.options = Options::None;
        segment.window = self.advertise(subflow);
    }
}
