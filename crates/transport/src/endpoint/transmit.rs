//! Construction of the next segment: control segments, data, acknowledgements.

use ropewalk_quantities::Time;

use crate::connection::record;
use crate::endpoint::{Endpoint, Role};
use crate::event::{Recorder, SegmentSent, TraceEvent};
use crate::scoreboard::Sent;
use crate::segment::{Flags, Options, Segment};
use crate::subflow::State;

/// Flags of a DSS option's acknowledgement, with 32 or 64 bits.
const DATA_ACK: Flags = Flags::DATA_ACK.with(Flags::DATA_ACK_64);

impl Endpoint {
    #[inline(never)]
    pub(super) fn next_segment<R: Recorder>(
        &mut self,
        now: Time,
        segment: &mut Segment,
        recorder: &mut R,
    ) -> Option<usize> {
        if !self.output.control.is_empty()
            && let Some(subflow) = self.poll_control(now, segment, recorder)
        {
            return Some(subflow);
        }
        if self.output.data {
            if let Some((subflow, sent)) = self.poll_data(now, recorder) {
                self.changed.insert(subflow);
                self.write_sent(now, subflow, &sent, segment);
                record(recorder, now, subflow, || sent_event(&sent));
                return Some(subflow);
            }
            if self.tx.closed
                && let Some(subflow) = self.poll_end_of_stream(now, segment, recorder)
            {
                return Some(subflow);
            }
            self.output.data = false;
        }
        if let Some(subflow) = self.output.acks.first() {
            if self.subflows[subflow].receiver.out_of_order {
                self.write_out_of_order(now, subflow, segment);
            } else {
                self.write_ack(now, subflow, segment);
            }
            return Some(subflow);
        }
        None
    }

    #[inline(never)]
    fn poll_control<R: Recorder>(
        &mut self,
        now: Time,
        segment: &mut Segment,
        recorder: &mut R,
    ) -> Option<usize> {
        while let Some(subflow) = self.output.control.first() {
            let flow = &mut self.subflows[subflow];
            let pending = flow.pending;
            if pending.rst {
                flow.pending = Default::default();
                self.write_ack(now, subflow, segment);
                segment.flags = segment.flags.with(Flags::RST);
                // After the SYNs, also if the handshake ends here (RFC 9293, 3.10.7.3).
                segment.seq = segment.seq.max(1);
                segment.ack = segment.ack.max(1);
                segment.options = if self.handshake.multipath && self.events.closed {
                    Options::MpFastClose {
                        receiver_key: self.handshake.keys.remote,
                    }
                } else {
                    Options::None
                };
                self.close_subflow(subflow);
                return Some(subflow);
            }
            if pending.syn {
                flow.pending.syn = false;
                *segment = self.syn_segment(now, subflow);
                return Some(subflow);
            }
            if pending.third {
                flow.pending.third = false;
                if flow.state == State::PreEstablished {
                    flow.sender.arm_third(now, self.table[subflow].latest_rtt);
                    self.timers.note(flow.sender.timer_at());
                }
                self.write_third(now, subflow, segment);
                return Some(subflow);
            }
            if pending.fin {
                flow.pending.fin = false;
                self.write_fin(now, subflow, segment, recorder);
                return Some(subflow);
            }
            if pending.probe {
                flow.pending.probe = false;
                self.write_ack(now, subflow, segment);
                segment.seq = segment.seq.saturating_sub(1);
                return Some(subflow);
            }
            self.output.control.remove(subflow);
        }
        None
    }

    #[inline(never)]
    fn poll_end_of_stream<R: Recorder>(
        &mut self,
        now: Time,
        segment: &mut Segment,
        recorder: &mut R,
    ) -> Option<usize> {
        if !self.tx.all_assigned() || !self.events.connected {
            return None;
        }
        if !self.handshake.multipath {
            let flow = &self.subflows[0];
            if flow.state != State::Established || flow.fin.is_some() {
                return None;
            }
            self.write_fin(now, 0, segment, recorder);
            return Some(0);
        }
        if self.tx.fin_acked || self.tx.fin_at != Time::MAX {
            return None;
        }
        // A DATA_FIN without data.
        let subflow = self.table.iter().position(|state| state.usable)?;
        self.write_ack(now, subflow, segment);
        // As with data: a mapping leaves no space for SACK blocks.
        segment.options = Options::None;
        segment.flags = segment
            .flags
            .with(self.mapping_flags())
            .with(Flags::DATA_FIN);
        segment.data_seq = self.tx.end()?;
        self.arm_data_fin(now, subflow);
        Some(subflow)
    }

    #[inline(always)]
    fn write_sent(&mut self, now: Time, subflow: usize, sent: &Sent, segment: &mut Segment) {
        self.timers.note(self.subflows[subflow].sender.timer_at());
        if self.subflows[subflow].receiver.has_options_to_send() {
            self.write_ack_with_data(now, subflow, sent, segment);
        } else {
            self.write_ack(now, subflow, segment);
        }
        segment.seq = sent.seq;
        if sent.is_fin() {
            segment.flags = segment.flags.with(Flags::FIN);
            return;
        }
        segment.len = sent.len;
        segment.data_seq = sent.data_seq;
        if self.handshake.multipath {
            self.map_data(now, subflow, sent, segment);
        }
    }

    #[inline]
    fn map_data(&mut self, now: Time, subflow: usize, sent: &Sent, segment: &mut Segment) {
        segment.flags = segment.flags.with(self.mapping_flags());
        if segment.flags.contains(Flags::DATA_ACK_64)
            && u64::from(sent.len) > self.segment_room(subflow)
        {
            // Its length was chosen when acknowledgements had 32 bits, and has no space for 64.
            segment.flags = segment.flags.without(Flags::DATA_ACK_64);
        }
        if !self.handshake.fully_established && sent.seq == 1 && self.handshake.role == Role::Client
        {
            segment.options = self.third_option(0);
            segment.flags = segment.flags.without(DATA_ACK);
        } else if self.tx.end() == Some(sent.data_seq + u64::from(sent.len)) {
            segment.flags = segment.flags.with(Flags::DATA_FIN);
            self.arm_data_fin(now, subflow);
        }
    }

    /// Flags of all mappings: 64 bits of data sequence (32 with a transmission number; RFC 8684, 3.3.1), and
    /// a checksum if negotiated.
    #[inline]
    pub(super) fn mapping_flags(&self) -> Flags {
        let mut flags = Flags::NONE;
        if !self.handshake.base_flags.contains(Flags::NUMBERED) {
            flags = flags.with(Flags::DATA_SEQ_64);
        }
        if self.config.extensions.checksum {
            flags = flags.with(Flags::CHECKSUM);
        }
        flags
    }

    fn arm_data_fin(&mut self, now: Time, subflow: usize) {
        self.tx.fin_at = now + self.subflows[subflow].sender.rto();
        self.timers.note(self.tx.fin_at);
    }

    fn write_third(&mut self, now: Time, subflow: usize, segment: &mut Segment) {
        self.write_ack(now, subflow, segment);
        // Before a join's fourth segment, the SYN is not acknowledged yet.
        segment.seq = segment.seq.max(1);
        segment.options = self.third_option(subflow);
        if segment.options != Options::None {
            // MP_CAPABLE and MP_JOIN leave no space for a DSS option.
            segment.flags = segment.flags.without(DATA_ACK);
        }
    }

    fn write_fin<R: Recorder>(
        &mut self,
        now: Time,
        subflow: usize,
        segment: &mut Segment,
        recorder: &mut R,
    ) {
        let flow = &mut self.subflows[subflow];
        let fin = Sent::fin(flow.sender.nxt, now);
        flow.fin = Some(fin.seq);
        self.fast_path.remove(subflow);
        self.changed.insert(subflow);
        flow.sender
            .send_new(now, fin, u64::MAX, &mut self.table[subflow]);
        self.table[subflow].usable = false;
        self.write_sent(now, subflow, &fin, segment);
        record(recorder, now, subflow, || sent_event(&fin));
    }

    /// Writes the acknowledgement fields of a data segment, with as many SACK blocks as fit. If none fits, a
    /// pure acknowledgement that is due follows with them.
    #[inline(never)]
    fn write_ack_with_data(
        &mut self,
        now: Time,
        subflow: usize,
        sent: &Sent,
        segment: &mut Segment,
    ) {
        let is_due = self.output.acks.contains(subflow);
        let room = if sent.is_fin() {
            u64::MAX
        } else if self.handshake.multipath {
            // Timestamps and a DSS mapping leave no space.
            0
        } else {
            let room = self.segment_room(subflow);
            room.saturating_sub(u64::from(sent.len) + 4) / 8
        };
        let blocks = self
            .handshake
            .sack_blocks
            .min(u8::try_from(room).unwrap_or(u8::MAX));
        self.write_ack_with(now, subflow, blocks, segment);
        if blocks == 0 || self.subflows[subflow].receiver.out_of_order {
            self.output.acks.set(subflow, is_due);
        }
    }

    /// Writes a pure acknowledgement that reports data out of order. It always has space for the option,
    /// which needs none next to a transmission number.
    #[inline(never)]
    fn write_out_of_order(&mut self, now: Time, subflow: usize, segment: &mut Segment) {
        let blocks = match self.handshake.base_flags.contains(Flags::NUMBERED) {
            true => self.handshake.sack_blocks,
            false => self.handshake.sack_blocks.saturating_sub(1),
        };
        self.write_ack_with(now, subflow, blocks, segment);
        self.subflows[subflow].receiver.out_of_order = false;
        segment.flags = segment.flags.with(Flags::OUT_OF_ORDER);
    }

    /// Numbers the segment to send on this subflow, if segments have transmission numbers.
    #[inline(always)]
    pub(super) fn number(
        &mut self,
        subflow: Option<usize>,
        segment: &mut Segment,
    ) -> Option<usize> {
        if self.handshake.base_flags.contains(Flags::NUMBERED)
            && let Some(subflow) = subflow
        {
            self.write_number(subflow, segment);
        }
        subflow
    }

    /// Writes a transmission number, unless options of the handshake or of the close leave no space.
    #[inline(never)]
    fn write_number(&mut self, subflow: usize, segment: &mut Segment) {
        let has_room = matches!(segment.options, Options::None | Options::Sack(_));
        match self.subflows[subflow].sender.reordering.tcp_door() {
            Some(door) if has_room => segment.number = door.number(segment.len > 0, segment.ack),
            _ => segment.flags = segment.flags.without(Flags::NUMBERED),
        }
    }

    /// Writes a pure acknowledgement, the base of every segment.
    #[inline]
    fn write_ack(&mut self, now: Time, subflow: usize, segment: &mut Segment) {
        self.write_ack_with(now, subflow, self.handshake.sack_blocks, segment);
    }

    #[inline]
    fn write_ack_with(&mut self, now: Time, subflow: usize, blocks: u8, segment: &mut Segment) {
        self.output.acks.remove(subflow);
        let flow = &mut self.subflows[subflow];
        segment.seq = flow.sender.nxt;
        segment.ack = flow.receiver.nxt;
        segment.data_seq = 0;
        segment.data_ack = self.rx.nxt + u64::from(self.rx.finished());
        segment.ts_val = now;
        segment.ts_ecr = flow.receiver.ts_recent;
        segment.len = 0;
        segment.flags = self.handshake.base_flags;
        segment.options = Options::None;
        flow.receiver
            .write_sack(usize::from(blocks), &mut segment.options);
        segment.window = self.advertise(subflow);
    }
}

fn sent_event(sent: &Sent) -> TraceEvent {
    TraceEvent::SegmentSent(SegmentSent {
        seq: sent.seq,
        len: if sent.is_fin() { 0 } else { sent.len },
        retransmission: sent.was_retransmitted(),
    })
}
