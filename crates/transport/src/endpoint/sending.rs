//! Selection of the next data to send, and of their subflow.

use std::borrow::Cow;

use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::congestion::Window;
use crate::connection::record;
use crate::endpoint::Endpoint;
use crate::event::{ProbeSent, Recorder, ReductionCause, TraceEvent, WindowReduced};
use crate::scheduling::{Choice, Pending, Scheduler, SubflowSet};
use crate::scoreboard::Sent;

/// Table for schedulers if there are backups, which are not usable while another subflow is.
pub(super) fn regular(table: &[SubflowState], has_backups: bool) -> Cow<'_, [SubflowState]> {
    if !has_backups || !table.iter().any(|state| state.usable && !state.backup) {
        return Cow::Borrowed(table);
    }
    let mut table = table.to_vec();
    for state in &mut table {
        state.usable &= !state.backup;
    }
    Cow::Owned(table)
}

impl Endpoint {
    /// Selects the next data to send: lost data first, then new.
    #[inline(always)]
    pub(super) fn poll_data<R: Recorder>(
        &mut self,
        now: Time,
        recorder: &mut R,
    ) -> Option<(usize, Sent)> {
        if self.tx.has_deadlines() && !self.is_single() {
            self.copy_late(now);
        }
        let has_old = !self
            .output
            .recovering
            .with_all(self.output.probes)
            .is_empty()
            || !self.queues.is_empty()
            || !self.tx.reinject.is_empty();
        if has_old {
            let old = self.poll_old_data(now, recorder);
            if old.is_some() {
                return old;
            }
        }
        let new = self.poll_new_data(now, recorder);
        if new.is_some() {
            return new;
        }
        self.poll_other(now, recorder)
    }

    #[inline(never)]
    fn poll_old_data<R: Recorder>(&mut self, now: Time, recorder: &mut R) -> Option<(usize, Sent)> {
        if !self.output.probes.is_empty()
            && let Some(probe) = self.poll_probe(now, recorder)
        {
            return Some(probe);
        }
        for subflow in self.output.recovering.iter() {
            let state = &mut self.table[subflow];
            if let Some(sent) = self.subflows[subflow].sender.poll_retransmit(now, state) {
                return Some((subflow, sent));
            }
        }
        if !self.tx.reinject.is_empty()
            && let Some(reinjected) = self.poll_reinjection(now, recorder)
        {
            return Some(reinjected);
        }
        self.poll_queued(now, recorder)
    }

    /// Sends a tail loss probe, regardless of the congestion window: new data if the subflow has any,
    /// otherwise its last segment (RFC 8985, 7.3).
    fn poll_probe<R: Recorder>(&mut self, now: Time, recorder: &mut R) -> Option<(usize, Sent)> {
        let subflow = self.output.probes.iter().next()?;
        self.output.probes.remove(subflow);
        self.mark_ready(subflow);
        let new = match self.subflows[subflow].queue.pop_front() {
            Some((data_seq, len)) => {
                self.table[subflow].queued -= u64::from(len);
                Some((data_seq, len))
            }
            None if self.is_single() => {
                let len = self.table[0].mss.min(self.tx.unsent());
                let fits = len > 0 && len <= self.tx.window();
                fits.then(|| (self.assign(0, len), len as u32))
            }
            None => None,
        };
        let sent = match new {
            Some((data_seq, len)) => self.send_data(now, subflow, data_seq, len, recorder).1,
            None => {
                let state = &mut self.table[subflow];
                self.subflows[subflow].sender.retransmit_last(now, state)?
            }
        };
        let retransmission = new.is_none();
        self.subflows[subflow]
            .sender
            .on_probe_sent(now, retransmission);
        record(recorder, now, subflow, || {
            TraceEvent::ProbeSent(ProbeSent { retransmission })
        });
        Some((subflow, sent))
    }

    /// Notes that a subflow's state in the table may have changed, and that it may have space for its queued
    /// data ([`SubflowQueues::mark_ready`](super::subflow_queues::SubflowQueues::mark_ready)).
    #[inline]
    pub(super) fn mark_ready(&mut self, subflow: usize) {
        self.queues.mark_ready(subflow);
        self.changed.insert(subflow);
    }

    /// Whether the first data of a subflow's queue are still needed and have no space.
    fn is_full(&self, subflow: usize) -> bool {
        let state = &self.table[subflow];
        let front = self.subflows[subflow].queue.front();
        front.is_some_and(|&(data_seq, len)| data_seq + u64::from(len) > self.tx.una)
            && state.cwnd < state.in_flight + state.mss
    }

    fn poll_queued<R: Recorder>(&mut self, now: Time, recorder: &mut R) -> Option<(usize, Sent)> {
        if self.queues.is_any_acknowledged(self.tx.una) {
            self.queues.mark_all_ready();
        }
        let mut full = self.queues.blocked().iter();
        debug_assert!(full.all(|subflow| self.is_full(subflow)));
        for subflow in self.queues.to_poll().iter() {
            while let Some(&(data_seq, len)) = self.subflows[subflow].queue.front() {
                let state = &mut self.table[subflow];
                let needed = data_seq + u64::from(len) > self.tx.una;
                if needed && state.cwnd < state.in_flight + state.mss {
                    self.queues.mark_blocked(subflow, data_seq + u64::from(len));
                    break;
                }
                if needed && !state.usable {
                    break;
                }
                let is_last = self.subflows[subflow].queue.len() == 1;
                if needed && is_last && self.nagle_holds(subflow, u64::from(len)) {
                    break;
                }
                let state = &mut self.table[subflow];
                self.subflows[subflow].queue.pop_front();
                state.queued -= u64::from(len);
                self.changed.insert(subflow);
                if needed {
                    return Some(self.send_data(now, subflow, data_seq, len, recorder));
                }
            }
            if self.subflows[subflow].queue.is_empty() {
                self.queues.empty(subflow);
            }
        }
        None
    }

    #[inline(always)]
    fn poll_new_data<R: Recorder>(&mut self, now: Time, recorder: &mut R) -> Option<(usize, Sent)> {
        loop {
            let unsent = self.tx.unsent();
            if unsent == 0 {
                self.queues.limit_by_data();
                return None;
            }
            let window = self.tx.window();
            if window == 0 {
                self.start_window_probe(now);
                return None;
            }
            let choice = if self.is_single() {
                if self.table[0].can_send() {
                    Choice::Send(0)
                } else {
                    Choice::Wait
                }
            } else {
                let next = self.tx.next_deadline();
                let pending = Pending {
                    now,
                    unsent,
                    window,
                    window_size: self.tx.window_size(),
                    written: self.tx.nxt + unsent,
                    acknowledged: self.tx.una,
                    deadline: next.map(|(deadline, _)| deadline),
                    left_of_write: next.map_or(0, |(_, left)| left),
                    changed: std::mem::take(&mut self.changed),
                };
                match self.has_backups {
                    false => self.scheduler.choose(&pending, &self.table),
                    true => self.choose_past_backups(pending),
                }
            };
            match choice {
                Choice::Send(subflow) => {
                    let len = self.next_len(now, subflow, unsent, window)?;
                    self.before_assigning(now, subflow);
                    let data_seq = self.assign(subflow, len);
                    return Some(self.send_data(now, subflow, data_seq, len as u32, recorder));
                }
                Choice::Assign(subflow) => {
                    let len = match self.shares_as_linux() {
                        true => self.table[subflow].mss.min(unsent).min(window),
                        false => self.next_len(now, subflow, unsent, window)?,
                    };
                    self.before_assigning(now, subflow);
                    let is_free = self.table[subflow].can_send()
                        && self.subflows[subflow].queue.is_empty()
                        && !self.nagle_holds(subflow, len);
                    if is_free {
                        let data_seq = self.assign(subflow, len);
                        return Some(self.send_data(now, subflow, data_seq, len as u32, recorder));
                    }
                    self.queues.limit_by_cwnd(subflow);
                    let data_seq = self.tx.assign(len);
                    self.queue_on(subflow, data_seq, len);
                }
                Choice::SendOn(set) => {
                    let first = set.iter().next()?;
                    let len = self.next_len(now, first, unsent, window)?;
                    set.iter()
                        .for_each(|subflow| self.before_assigning(now, subflow));
                    self.assign_to(set, len);
                    let queued = self.poll_queued(now, recorder);
                    if queued.is_some() {
                        return queued;
                    }
                }
                Choice::Wait => {
                    self.hold_by_cwnd();
                    return None;
                }
                Choice::WaitUntil(time) => {
                    self.hold_by_cwnd();
                    // A time that is not later would cause endless calls.
                    let time = time.max(now + Time::from_nanos(1));
                    self.timers.call_scheduler(time);
                    return None;
                }
            }
        }
    }

    /// Whether Nagle's algorithm holds back the last data of a subflow's queue, as in Linux: while another
    /// small segment of the subflow is unacknowledged.
    #[inline]
    fn nagle_holds(&self, subflow: usize, len: u64) -> bool {
        self.shares_as_linux()
            && len < self.table[subflow].mss
            && self.config.nagle
            && !self.tx.closed
            && self.subflows[subflow].holds_small()
    }

    #[inline]
    fn assign(&mut self, subflow: usize, len: u64) -> u64 {
        self.table[subflow].assigned += len;
        self.tx.assign(len)
    }

    fn assign_to(&mut self, set: SubflowSet, len: u64) {
        let data_seq = self.tx.assign(len);
        for subflow in set.iter() {
            self.queue_on(subflow, data_seq, len);
        }
    }

    #[inline]
    pub(super) fn queue_on(&mut self, subflow: usize, data_seq: u64, len: u64) {
        if self.subflows[subflow].queue.is_empty() {
            self.mark_ready(subflow);
        }
        self.changed.insert(subflow);
        let fills_last = self.shares_as_linux();
        let (queue, mss) = (&mut self.subflows[subflow].queue, self.table[subflow].mss);
        let (mut start, end) = (data_seq, data_seq + len);
        // Linux fills the last segment of a subflow's queue before it begins another.
        if fills_last
            && let Some((last, last_len)) = queue.back_mut()
            && *last + u64::from(*last_len) == start
        {
            let more = mss.saturating_sub(u64::from(*last_len)).min(len);
            *last_len += more as u32;
            start += more;
        }
        if start < end {
            queue.push_back((start, (end - start) as u32));
        }
        self.table[subflow].queued += len;
        self.table[subflow].assigned += len;
        self.queues.fill(subflow);
    }

    /// The scheduler's choice if there are backups; separate, to keep the common case fast.
    #[inline(never)]
    fn choose_past_backups(&mut self, pending: Pending) -> Choice {
        let table = regular(&self.table, true);
        let pending = Pending {
            // Usability depends on other subflows, too.
            changed: SubflowSet::ALL,
            ..pending
        };
        self.scheduler.choose(&pending, &table)
    }

    /// Length of the next segment; `None` if it must wait (RFC 1122, 4.2.3.4).
    #[inline]
    fn next_len(&mut self, now: Time, subflow: usize, unsent: u64, window: u64) -> Option<u64> {
        let mss = self.table[subflow].mss;
        let len = mss.min(unsent).min(window);
        if len == mss {
            return Some(len);
        }
        if len == unsent {
            self.queues.limit_by_data();
            let idle = self.tx.nxt == self.tx.una;
            return (!self.config.nagle || idle || self.tx.closed).then_some(len);
        }
        if len >= self.tx.window_max / 2 {
            return Some(len);
        }
        self.start_window_probe(now);
        None
    }

    /// Starts probes of a peer's window that is closed or smaller than a segment, if nothing is in flight.
    #[inline(never)]
    fn start_window_probe(&mut self, now: Time) {
        self.queues.limit_by_data();
        self.scheduler.on_window_blocked();
        // Retransmissions of the connection's own timer probe the window, too.
        let waits_for_data = self.shares_as_linux() && self.tx.una < self.tx.nxt;
        if self.timers.persist.is_off()
            && !waits_for_data
            && self.subflows.iter().all(|flow| flow.sender.is_idle())
        {
            self.arm_persist(now, 0);
        }
    }

    #[inline]
    fn hold_by_cwnd(&mut self) {
        for (subflow, state) in self.table.iter().enumerate() {
            if state.usable && !state.can_send() {
                self.queues.limit_by_cwnd(subflow);
            }
        }
    }

    #[inline]
    fn poll_other<R: Recorder>(&mut self, now: Time, recorder: &mut R) -> Option<(usize, Sent)> {
        if !self.is_single() && self.tx.unsent() > 0 && self.tx.window() < self.table[0].mss {
            let again = self.poll_opportunistic(now, recorder);
            if again.is_some() {
                return again;
            }
        }
        for subflow in self.output.recovering.iter() {
            let state = &mut self.table[subflow];
            if let Some(sent) = self.subflows[subflow].sender.poll_rescue(now, state) {
                return Some((subflow, sent));
            }
        }
        None
    }

    /// Sends a data range on a subflow where it was not sent before.
    #[inline]
    pub(super) fn send_data<R: Recorder>(
        &mut self,
        now: Time,
        subflow: usize,
        data_seq: u64,
        len: u32,
        recorder: &mut R,
    ) -> (usize, Sent) {
        let initial_window = self.config.initial_window.bytes(self.table[subflow].mss);
        let flow = &mut self.subflows[subflow];
        let sender = &mut flow.sender;
        let sent = Sent::data(sender.nxt, len, data_seq, now);
        if u64::from(len) < self.table[subflow].mss {
            flow.small_end = sent.seq + u64::from(len);
        }
        let state = &mut self.table[subflow];
        let before = Window::of(state);
        if sender.send_new(now, sent, initial_window, state) {
            let after = Window::of(state);
            record(recorder, now, subflow, || {
                TraceEvent::WindowReduced(WindowReduced {
                    cause: ReductionCause::Idle,
                    before,
                    after,
                })
            });
        }
        (subflow, sent)
    }
}
