//! The usual case of each verb, done with little: the next data in order at a receiver that waits
//! for nothing, a cumulative acknowledgement at a sender that has lost nothing, full segments that
//! the windows let out.
//!
//! A connection is *settled* while it is one TCP subflow in which nothing has to be repaired,
//! closed or negotiated. Only what is done the long way can end that or begin it, so the long way
//! asks last, and here one bit answers for a score of questions. Each verb then looks at the segment
//! before it changes anything, and leaves it to the long way unless it is as usual. That both do
//! the same is a property that tests hold (`tests/usual.rs`); where somebody listens
//! ([`RecordedEndpoint`](crate::RecordedEndpoint)) there is the long way alone.

use ropewalk_quantities::Time;

use crate::congestion::CongestionControl;
use crate::endpoint::Endpoint;
use crate::segment::{Options, Segment};
use crate::subflow::State;

impl Endpoint {
    /// Notes whether the connection is settled. Whatever may end that calls it last.
    #[inline]
    pub(crate) fn settle(&mut self) {
        // One over several paths never is, so there is nothing to ask of it.
        if !self.multipath {
            self.settled = self.is_settled();
        }
    }

    /// The same of one TCP.
    fn is_settled(&self) -> bool {
        let ([flow], [state]) = (&self.subflows[..], &self.table[..]) else {
            return false;
        };
        flow.state == State::Established
            && flow.fin.is_none()
            && state.usable
            && state.queued == 0
            && self.control | self.recovering | self.queueing | self.probing == 0
            && self.persist_at == Time::MAX
            && self.tx.reinject.is_empty()
            && flow.sender.is_settled()
            && flow.receiver.is_settled()
            && self.rx.is_settled()
    }

    /// [`take_segment`](Endpoint::take_segment) of a usual segment; false if it is none, and
    /// nothing was done.
    #[inline(always)]
    pub(crate) fn take_usual(&mut self, now: Time, subflow: usize, segment: &Segment) -> bool {
        let usual = self.settled
            && subflow == 0
            && segment.flags == self.usual_flags
            && matches!(segment.options, Options::None);
        if !usual {
            return false;
        }
        if segment.len > 0 {
            self.take_usual_data(now, segment)
        } else {
            self.take_usual_ack(now, segment)
        }
    }

    /// The next data in order, at an end that has sent nothing which is not acknowledged.
    #[inline]
    fn take_usual_data(&mut self, now: Time, segment: &Segment) -> bool {
        let [flow] = &mut self.subflows[..] else {
            return false;
        };
        let len = u64::from(segment.len);
        let usual = segment.seq == flow.receiver.nxt()
            && segment.data_seq == self.rx.nxt()
            && segment.data_seq + len <= self.rx.edge()
            && segment.ack == flow.sender.una()
            && flow.sender.is_idle()
            && self.tx.is_idle();
        if !usual {
            return false;
        }
        self.tx.on_window(self.tx.una() + u64::from(segment.window));
        flow.receiver.take_next(now, segment);
        self.rx.take_next(len);
        self.packets += 1;
        flow.delivered += len;
        if flow.receiver.ack_due() {
            self.acks = 1;
        } else {
            self.timer = self.timer.min(flow.receiver.ack_at());
        }
        true
    }

    /// An acknowledgement of segments that were all sent once, and later than none that is left.
    #[inline]
    fn take_usual_ack(&mut self, now: Time, segment: &Segment) -> bool {
        let ([flow], [state]) = (&mut self.subflows[..], &mut self.table[..]) else {
            return false;
        };
        if segment.seq != flow.receiver.nxt() {
            return false;
        }
        let cwnd_limited = self.cwnd_limited & 1 == 1;
        let Some(acked) = flow.sender.take_usual(now, segment, cwnd_limited, state) else {
            return false;
        };
        let cwnd = self.controller.on_ack(0, &acked, &self.table);
        let state = &mut self.table[0];
        state.cwnd = cwnd;
        flow.sender.after_usual(now, state);
        self.timer = self.timer.min(flow.sender.timer_at());
        self.tx.on_ack(segment.ack - 1, u64::from(segment.window));
        if self.tx.blocks() {
            self.expand_send_buffer();
        }
        self.may_send = true;
        true
    }

    /// Nothing is to be sent now, as [`poll_transmit`](Endpoint::poll_transmit) would say, too; false
    /// tells nothing.
    #[inline]
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.settled && !self.may_send && self.acks == 0
    }

    /// [`poll_transmit`](Endpoint::poll_transmit) of full segments and of acknowledgements by
    /// themselves; `None` if something else may be to do, and nothing was done.
    #[inline(always)]
    pub(crate) fn poll_usual(&mut self, now: Time, segment: &mut Segment) -> Option<Option<usize>> {
        let ([flow], [state], true) = (&mut self.subflows[..], &mut self.table[..], self.settled)
        else {
            return None;
        };
        if self.may_send {
            let unsent = self.tx.unsent();
            if unsent == 0 {
                if self.tx.closed() {
                    return None;
                }
                self.cwnd_limited = 0;
            } else if unsent < state.mss || self.tx.window() < state.mss {
                return None;
            } else if state.room() < state.mss {
                self.cwnd_limited = 1;
            } else {
                let (len, data_seq) = (state.mss as u32, self.tx.nxt());
                let seq = flow.sender.send_usual(now, len, data_seq, state)?;
                self.tx.assign(state.mss);
                state.assigned += state.mss;
                self.timer = self.timer.min(flow.sender.timer_at());
                self.write_usual(now, seq, segment);
                segment.len = len;
                segment.data_seq = data_seq;
                return Some(Some(0));
            }
            self.may_send = false;
        }
        if self.acks == 0 {
            return Some(None);
        }
        let seq = flow.sender.nxt();
        self.write_usual(now, seq, segment);
        Some(Some(0))
    }

    /// [`write_ack`](Endpoint::write_ack) where there is nothing to tell but what came in order.
    #[inline(always)]
    fn write_usual(&mut self, now: Time, seq: u64, segment: &mut Segment) {
        let [flow] = &mut self.subflows[..] else {
            return;
        };
        self.acks = 0;
        segment.seq = seq;
        segment.ack = flow.receiver.nxt();
        segment.data_seq = 0;
        segment.data_ack = self.rx.nxt();
        segment.ts_val = now;
        segment.ts_ecr = flow.receiver.ts_recent();
        segment.len = 0;
        segment.window = self.rx.window(false) as u32;
        segment.flags = self.usual_flags;
        segment.options = Options::None;
        flow.receiver.acknowledged();
    }
}
