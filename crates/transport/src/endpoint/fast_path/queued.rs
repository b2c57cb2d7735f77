//! Transmission of queued data on the fast path.

use ropewalk_quantities::Time;

use crate::endpoint::Endpoint;
use crate::segment::Segment;

impl Endpoint {
    /// Sends the next data of the first queue that a window allows, and returns its subflow, if there is one
    /// and no data wait for the scheduler.
    #[inline]
    pub(super) fn send_queued(
        &mut self,
        now: Time,
        segment: &mut Segment,
    ) -> Option<Option<usize>> {
        let disturbed = !self.output.before_new_data().is_empty()
            || !self.tx.reinject.is_empty()
            || self.tx.has_deadlines()
            || self.queues.is_any_acknowledged(self.tx.una);
        if disturbed {
            return None;
        }
        for subflow in self.queues.to_poll().iter() {
            let (flow, state) = (&mut self.subflows[subflow], &mut self.table[subflow]);
            let Some(&(data_seq, len)) = flow.queue.front() else {
                self.queues.empty(subflow);
                continue;
            };
            let end = data_seq + u64::from(len);
            if end <= self.tx.una {
                return None;
            }
            if state.cwnd < state.in_flight + state.mss {
                self.queues.mark_blocked(subflow, end);
                continue;
            }
            let fast_path = self.fast_path.contains(subflow);
            let whole = u64::from(len) == state.mss || !self.config.subflows.linux_window;
            if !fast_path || !whole || u64::from(len) > state.mss || self.tx.end() == Some(end) {
                return None;
            }
            let seq = flow.sender.send_fast(now, len, data_seq, state)?;
            flow.queue.pop_front();
            state.queued -= u64::from(len);
            self.changed.insert(subflow);
            self.timers.note(flow.sender.timer_at());
            self.write_fast(now, subflow, seq, segment);
            segment.len = len;
            segment.data_seq = data_seq;
            segment.flags = segment.flags.with(self.mapping_flags());
            return Some(Some(subflow));
        }
        if self.tx.unsent() > 0 || self.tx.closed {
            return None;
        }
        self.queues.limit_by_data();
        Some(None)
    }
}
