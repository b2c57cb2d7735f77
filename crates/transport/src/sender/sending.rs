//! Transmission of segments: retransmissions, new data, and restart after idleness.

use ropewalk_quantities::Time;

use super::Sender;
use crate::SubflowState;
use crate::recovery::Phase;
use crate::reordering::{ReorderingPolicy, Retransmission};
use crate::retransmission_timer::Purpose;
use crate::scoreboard::Sent;

impl Sender {
    /// Returns a segment to retransmit now, if the window allows one (NextSeg of RFC 6675).
    #[inline]
    pub(crate) fn poll_retransmit(&mut self, now: Time, state: &mut SubflowState) -> Option<Sent> {
        if !self.recovery.may_retransmit() {
            return None;
        }
        let fits = state.cwnd >= state.in_flight + state.mss;
        if !fits && !self.recovery.force {
            return None;
        }
        let at = self.board.next_lost()?;
        Some(self.repair(at, now, state))
    }

    /// Returns other data to send in recovery, without new data (NextSeg, rules 3 and 4).
    pub(crate) fn poll_rescue(&mut self, now: Time, state: &mut SubflowState) -> Option<Sent> {
        if self.recovery.no_new_data() {
            let held_back = self.poll_retransmit(now, state);
            if held_back.is_some() {
                return held_back;
            }
        }
        let full = state.cwnd < state.in_flight + state.mss;
        let recovering = self.recovery.phase == Phase::Recovery;
        if !recovering || !self.sack || self.loss.rack.on || full {
            return None;
        }
        let at = self.board.next_unsacked()?;
        Some(self.repair(at, now, state))
    }

    /// Retransmits a segment that is or may be lost.
    fn repair(&mut self, at: usize, now: Time, state: &mut SubflowState) -> Sent {
        let sent = self.retransmit(at, now, state);
        self.reordering.on_retransmit(&Retransmission {
            now,
            seq: sent.seq,
            end: sent.end(),
        });
        sent
    }

    fn retransmit(&mut self, at: usize, now: Time, state: &mut SubflowState) -> Sent {
        let sent = self.board.retransmit(at, now);
        self.loss.rack.on_retransmit(self.board.name(at), now);
        self.recovery.force = false;
        self.counters.retransmissions += 1;
        self.count_sent(now, &sent);
        if at == 0 && self.loss.rack.on && self.timer.purpose != Purpose::Reordering {
            // As in Linux (`tcp_xmit_retransmit_queue`): the timer restarts for the oldest segment.
            self.arm(Purpose::Timeout, now + self.rto.current());
        }
        self.publish(state);
        sent
    }

    /// Sends a tail loss probe without new data: the last segment that is not known to have arrived.
    pub(crate) fn retransmit_last(&mut self, now: Time, state: &mut SubflowState) -> Option<Sent> {
        let last = self.board.last_unsacked()?;
        Some(self.retransmit(last, now, state))
    }

    /// Sends new data (or FIN). Returns whether the window was reduced for idleness before.
    ///
    /// Always inlined: a value passed through memory would be read again before the write has completed.
    #[inline(always)]
    pub(crate) fn send_new(
        &mut self,
        now: Time,
        sent: Sent,
        initial_window: u64,
        state: &mut SubflowState,
    ) -> bool {
        let reduced = self.restart_after_idle(now, initial_window, state);
        self.recovery.on_new_data();
        self.nxt += u64::from(sent.len);
        self.board.push(sent);
        self.count_sent(now, &sent);
        self.put_off_probe(now, state);
        self.publish(state);
        self.note_usage(state);
        reduced
    }

    #[inline]
    pub(super) fn count_sent(&mut self, now: Time, sent: &Sent) {
        if !sent.is_fin() {
            self.counters.segments_sent += 1;
        }
        self.recovery.prr.count_sent(u64::from(sent.len));
        self.last_sent = now;
        if self.timer.is_off() {
            self.arm(Purpose::Timeout, now + self.rto.current());
        }
    }

    #[inline]
    pub(super) fn was_idle(&self, now: Time) -> bool {
        self.board.is_empty() && now.saturating_sub(self.last_sent) > self.rto.current()
    }

    /// Restarts after idleness: the window is no longer valid (RFC 5681, 4.1), or less valid with each
    /// timeout that has passed (Linux's `tcp_cwnd_restart`). Returns whether the window was reduced.
    #[inline]
    fn restart_after_idle(&mut self, now: Time, initial: u64, state: &mut SubflowState) -> bool {
        if !self.was_idle(now) {
            return false;
        }
        let (idle, rto) = (now.saturating_sub(self.last_sent), self.rto.current());
        let mut cwnd = state.cwnd;
        if self.window.halve_after_idle {
            state.ssthresh = state.ssthresh.max(cwnd / 4 * 3);
            let mut over = idle - rto;
            while over > Time::ZERO && cwnd > initial {
                cwnd /= 2;
                over = over.saturating_sub(rto);
            }
            cwnd = cwnd.max(initial.min(state.cwnd));
        } else {
            cwnd = cwnd.min(initial);
        }
        let reduced = cwnd < state.cwnd;
        state.cwnd = cwnd;
        self.recovery.before = None;
        reduced
    }

    /// Records the used part of the window after transmission of new data.
    #[inline]
    pub(super) fn note_usage(&mut self, state: &SubflowState) {
        if self.window.validate {
            let is_full = state.in_flight + state.mss > state.cwnd;
            self.usage.on_sent(self.una, self.nxt, is_full);
        }
    }
}
