//! Fast path of the sender; see `endpoint/fast_path.rs`.

use ropewalk_quantities::Time;

use super::Sender;
use crate::SubflowState;
use crate::congestion::Acked;
use crate::scoreboard::Sent;
use crate::segment::Segment;

impl Sender {
    /// Whether nothing is lost, suspected, selectively acknowledged or retransmitted, losses are detected by
    /// time, and the reordering policy ignores acknowledgements of new data.
    pub(crate) fn allows_fast_path(&self) -> bool {
        self.sack
            && self.rto.backoff == 0
            && self.reordering.ignores_plain_acks()
            && self.recovery.allows_fast_path()
            && self.board.allows_fast_path(self.una)
            && self.loss.allows_fast_path()
    }

    /// [`on_ack`](Sender::on_ack) for new data that were all sent once, and before everything outstanding, up
    /// to congestion control: returns its argument; `None` if the fast path does not apply.
    #[inline(always)]
    pub(crate) fn take_fast(
        &mut self,
        now: Time,
        segment: &Segment,
        cwnd_limited: bool,
        state: &mut SubflowState,
    ) -> Option<Acked> {
        let ack = segment.ack;
        if ack <= self.una || ack > self.nxt {
            return None;
        }
        let (count, last, next) = self.board.unretransmitted_prefix(ack)?;
        if !self.loss.rack.none_is_overtaken_by(last, next) {
            return None;
        }
        let (sent, bytes) = (last.sent, ack - self.una);
        self.board.take_prefix(count, bytes);
        self.advance(now, segment, bytes, Some(sent), state);
        self.loss.rack.take_newest(now, sent, ack);
        Some(self.acked(now, bytes, ack, cwnd_limited, state))
    }

    #[inline(always)]
    pub(crate) fn after_fast(&mut self, now: Time, state: &mut SubflowState) {
        if self.board.is_empty() {
            self.disarm();
        } else {
            self.restart_timer_for(now, self.loss.probe.on, state);
        }
        // Offset 0 is the SYN.
        state.acknowledged = self.una - 1;
        state.in_flight = self.board.outstanding;
    }

    /// [`send_new`](Sender::send_new) for data that do not follow idleness; returns their position in the
    /// stream.
    #[inline(always)]
    pub(crate) fn send_fast(
        &mut self,
        now: Time,
        len: u32,
        data_seq: u64,
        state: &mut SubflowState,
    ) -> Option<u64> {
        if self.was_idle(now) {
            return None;
        }
        let seq = self.nxt;
        let sent = Sent::data(seq, len, data_seq, now);
        self.nxt += u64::from(len);
        self.board.push(sent);
        self.count_sent(now, &sent);
        if self.loss.probe.on {
            self.arm_probe(now, state);
        }
        state.in_flight = self.board.outstanding;
        self.note_usage(state);
        Some(seq)
    }
}
