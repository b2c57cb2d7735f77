//! What leaves next: control segments, data, acknowledgements; and how a segment is built.

use ropewalk_quantities::Time;

use crate::endpoint::{Endpoint, Role};
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
            if let Some((subflow, sent)) = self.poll_data(now) {
                return Some((subflow, self.sent_segment(now, subflow, &sent)));
            }
            if self.tx.closed()
                && let Some(end) = self.poll_end_of_stream(now)
            {
                return Some(end);
            }
            self.may_send = false;
        }
        if self.acks != 0 {
            let subflow = self.acks.trailing_zeros() as usize;
            return Some((subflow, self.ack_segment(now, subflow)));
        }
        None
    }

    #[inline(never)]
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
                    Options::MpFastClose {
                        receiver_key: self.remote_key,
                    }
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
                if flow.state == State::PreEstablished {
                    flow.sender.arm_handshake(now);
                    self.timer = self.timer.min(flow.sender.rto_at());
                }
                return Some((subflow, self.third_segment(now, subflow)));
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

    #[inline(never)]
    fn poll_end_of_stream(&mut self, now: Time) -> Option<(usize, Segment)> {
        if !self.tx.all_assigned() || !self.established {
            return None;
        }
        if !self.multipath {
            let flow = &self.subflows[0];
            let due = flow.state == State::Established && flow.fin.is_none();
            return due.then(|| (0, self.fin_segment(now, 0)));
        }
        if self.tx.fin_acked() || self.tx.fin_at != Time::MAX {
            return None;
        }
        // A DATA_FIN by itself: nothing is left to carry it.
        let subflow = self.table.iter().position(|state| state.usable)?;
        let mut segment = self.ack_segment(now, subflow);
        segment.flags = segment.flags.with(Flags::DATA_FIN);
        segment.data_seq = self.tx.end()?;
        self.arm_data_fin(now, subflow);
        Some((subflow, segment))
    }

    /// The segment of an entry of the scoreboard.
    #[inline]
    fn sent_segment(&mut self, now: Time, subflow: usize, sent: &Sent) -> Segment {
        self.timer = self.timer.min(self.subflows[subflow].sender.rto_at());
        let mut segment = self.ack_segment(now, subflow);
        segment.seq = sent.seq;
        if sent.is_fin() {
            segment.flags = segment.flags.with(Flags::FIN);
            return segment;
        }
        segment.len = sent.len;
        segment.data_seq = sent.data_seq;
        if self.multipath {
            self.map_data(now, subflow, sent, &mut segment);
        }
        segment
    }

    /// The MPTCP option of a data segment.
    #[inline]
    fn map_data(&mut self, now: Time, subflow: usize, sent: &Sent, segment: &mut Segment) {
        // Timestamps and a DSS mapping leave no room for SACK blocks.
        segment.options = Options::None;
        if !self.fully_established && sent.seq == 1 && self.role == Role::Client {
            segment.options = self.third_option(0);
            segment.flags = segment.flags.without(Flags::DATA_ACK);
        } else if self.tx.end() == Some(sent.data_seq + u64::from(sent.len)) {
            segment.flags = segment.flags.with(Flags::DATA_FIN);
            self.arm_data_fin(now, subflow);
        }
    }

    fn arm_data_fin(&mut self, now: Time, subflow: usize) {
        self.tx.fin_at = now + self.subflows[subflow].sender.rto();
        self.timer = self.timer.min(self.tx.fin_at);
    }

    fn third_segment(&mut self, now: Time, subflow: usize) -> Segment {
        let mut segment = self.ack_segment(now, subflow);
        segment.options = self.third_option(subflow);
        if segment.options != Options::None {
            // MP_CAPABLE and MP_JOIN leave no room for a DSS option.
            segment.flags = segment.flags.without(Flags::DATA_ACK);
        }
        segment
    }

    fn fin_segment(&mut self, now: Time, subflow: usize) -> Segment {
        let flow = &mut self.subflows[subflow];
        let fin = Sent::fin(flow.sender.nxt(), now);
        flow.fin = Some(fin.seq);
        flow.sender
            .send_new(now, fin, u64::MAX, &mut self.table[subflow]);
        self.table[subflow].usable = false;
        self.sent_segment(now, subflow, &fin)
    }

    /// An acknowledgement without data: what every segment starts from.
    #[inline]
    fn ack_segment(&mut self, now: Time, subflow: usize) -> Segment {
        self.acks &= !(1 << subflow);
        let window = self.rx.window().min(u64::from(u32::MAX)) as u32;
        let flow = &mut self.subflows[subflow];
        let mut flags = Flags::ACK;
        // Of 40 bytes for all options: 8 a block and 4 before them, 12 for timestamps, 8 for a DATA_ACK.
        let mut blocks = 4;
        if self.config.timestamps {
            flags = flags.with(Flags::TIMESTAMPS);
            blocks -= 1;
        }
        if self.multipath {
            flags = flags.with(Flags::DATA_ACK);
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
