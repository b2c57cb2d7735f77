//! Reinjection: transmission on another subflow of data in flight on a failed or timed-out subflow (RFC 8684,
//! 3.3.6), or of data that block the receive window (Raiciu et al., NSDI 2012).

use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::congestion::Window;
use crate::connection::record;
use crate::endpoint::Endpoint;
use crate::endpoint::sending::regular;
use crate::event::{Recorder, ReductionCause, TraceEvent, WindowReduced};
use crate::scheduling::{CopyDecision, InFlightData, Scheduler};
use crate::scoreboard::Sent;
use crate::subflow::State;

const CHECK_INTERVAL: Time = Time::from_millis(5);

/// Data in flight on one subflow to copy to another.
struct Copy {
    to: usize,
    data_seq: u64,
    len: u32,
    behind: usize,
}

impl Endpoint {
    /// Allows all unacknowledged data of the subflow to be sent on the others.
    pub(super) fn reinject_from(&mut self, subflow: usize) {
        if !self.handshake.multipath {
            return;
        }
        let (una, reinject) = (self.tx.una, &mut self.tx.reinject);
        let flow = &mut self.subflows[subflow];
        flow.sender.board_mut().reinject(|start, end| {
            reinject.insert(start.max(una), end.max(una));
        });
        self.release_unsent(subflow);
    }

    /// Allows data assigned to the subflow but not sent to be sent on the others.
    pub(super) fn release_unsent(&mut self, subflow: usize) {
        let (una, reinject) = (self.tx.una, &mut self.tx.reinject);
        let flow = &mut self.subflows[subflow];
        for (data_seq, len) in flow.queue.drain(..) {
            reinject.insert(data_seq.max(una), (data_seq + u64::from(len)).max(una));
        }
        self.table[subflow].queued = 0;
        self.queues.empty(subflow);
    }

    /// Returns data to a subflow whose losses were spurious, except for data sent on another subflow since.
    pub(super) fn cancel_reinjection(&mut self, subflow: usize) {
        let flow = &mut self.subflows[subflow];
        self.table[subflow].usable = flow.state == State::Established && flow.fin.is_none();
        let (una, waiting) = (self.tx.una, &mut self.tx.reinject);
        flow.sender.board_mut().cancel_reinjection(|start, end| {
            let start = start.max(una);
            let waits = waiting
                .containing(start)
                .is_some_and(|(_, last)| end <= last);
            waits && waiting.remove(start, end) > 0
        });
    }

    /// Sends the oldest data to reinject on the subflow with the lowest RTT among those with space, before
    /// data queued there, since these data block the rest.
    pub(super) fn poll_reinjection<R: Recorder>(
        &mut self,
        now: Time,
        recorder: &mut R,
    ) -> Option<(usize, Sent)> {
        let has_room =
            |state: &SubflowState| state.usable && state.cwnd >= state.in_flight + state.mss;
        let table = regular(&self.table, self.has_backups);
        let subflow = (0..table.len())
            .filter(|&subflow| has_room(&table[subflow]))
            .min_by_key(|&subflow| table[subflow].srtt)?;
        let (start, end) = self.tx.reinject.take_first(self.table[subflow].mss)?;
        Some(self.send_data(now, subflow, start, (end - start) as u32, recorder))
    }

    /// Queues data that would be late on their subflow on another one, if the scheduler requests it. Runs at
    /// intervals, since it examines all data close to their deadlines.
    pub(super) fn copy_late(&mut self, now: Time) {
        if self.tx.nxt == self.tx.una {
            return;
        }
        let Some(next_check) = self.tx.next_check() else {
            return;
        };
        let mut next = *next_check;
        if now >= next {
            next = now + CHECK_INTERVAL;
            for on in 0..self.subflows.len() {
                let (mut from, mut ahead) = (0, 0);
                while let Some(copy) = self.first_late(now, on, from, &mut ahead, &mut next) {
                    from = copy.behind;
                    self.queue_on(copy.to, copy.data_seq, u64::from(copy.len));
                }
            }
            next = next.max(now + Time::from_nanos(1));
            if let Some(next_check) = self.tx.next_check() {
                *next_check = next;
            }
        }
        self.timers.call_scheduler(next);
    }

    /// Finds the first data on this subflow, from a scoreboard index on, to copy to another. Lowers `next`,
    /// the time of the next check, where needed, and counts the bytes up to the end of the check.
    fn first_late(
        &mut self,
        now: Time,
        on: usize,
        from: usize,
        ahead: &mut u64,
        next: &mut Time,
    ) -> Option<Copy> {
        let (una, mut to) = (self.tx.una, None);
        let table = regular(&self.table, self.has_backups);
        let (tx, table, scheduler) = (&self.tx, &table, &mut self.scheduler);
        let board = self.subflows[on].sender.board_mut();
        let copy = board.copy_first(from, ahead, |sent, ahead| {
            if sent.data_seq < una {
                return Some(false);
            }
            let data = InFlightData {
                now,
                deadline: tx.deadline_of(sent.data_seq)?,
                sent: sent.sent,
                ahead,
                on,
            };
            match scheduler.decide_copy(&data, table) {
                CopyDecision::To(subflow) => {
                    to = Some(subflow);
                    Some(true)
                }
                CopyDecision::NotYet => Some(false),
                CopyDecision::NotBefore(time) => {
                    *next = time.min(*next);
                    None
                }
                CopyDecision::Never => {
                    *next = Time::MAX;
                    None
                }
            }
        });
        let (behind, data_seq, len) = copy?;
        Some(Copy {
            to: to?,
            data_seq,
            len,
            behind,
        })
    }

    /// Retransmits data that block a full receive window on a subflow with space, and halves the window of
    /// the subflow that blocks it, at most once per round trip.
    pub(super) fn poll_opportunistic<R: Recorder>(
        &mut self,
        now: Time,
        recorder: &mut R,
    ) -> Option<(usize, Sent)> {
        if !self.config.subflows.opportunistic_retransmission && !self.config.subflows.penalisation
        {
            return None;
        }
        let free = (0..self.table.len())
            .filter(|&subflow| self.table[subflow].can_send())
            .min_by_key(|&subflow| self.table[subflow].srtt)?;
        let start = self.tx.una.max(self.tx.opportunistic);
        let (holder, end) = self
            .holder_of(start)
            .filter(|&(holder, _)| holder != free)?;
        if self.config.subflows.penalisation
            && now.saturating_sub(self.subflows[holder].penalised) >= self.table[holder].srtt
        {
            self.subflows[holder].penalised = now;
            let state = &mut self.table[holder];
            let before = Window::of(state);
            state.cwnd = (state.cwnd / 2).max(state.mss);
            state.ssthresh = state.cwnd.max(2 * state.mss);
            let after = Window::of(state);
            self.subflows[holder].sender.recovery.before = None;
            record(recorder, now, holder, || {
                TraceEvent::WindowReduced(WindowReduced {
                    cause: ReductionCause::Penalised,
                    before,
                    after,
                })
            });
        }
        if !self.config.subflows.opportunistic_retransmission {
            return None;
        }
        self.tx.opportunistic = end;
        Some(self.send_data(now, free, start, (end - start) as u32, recorder))
    }

    /// The subflow that has these data in flight, and the end of their segment.
    fn holder_of(&self, data_seq: u64) -> Option<(usize, u64)> {
        self.subflows.iter().enumerate().find_map(|(number, flow)| {
            let ends = flow
                .sender
                .board
                .iter()
                .filter(|sent| !sent.is_fin())
                .map(|sent| (sent.data_seq, sent.data_seq + u64::from(sent.len)));
            let mut holding = ends.filter(|&(start, end)| start <= data_seq && data_seq < end);
            holding.next().map(|(_, end)| (number, end))
        })
    }
}
