//! The retransmission timer of an MPTCP connection, as in Linux (`mptcp_retransmit_timer`): for data that a
//! subflow has delivered, but the receiver dropped, since they were beyond the shared window.

use ropewalk_quantities::Time;

use crate::endpoint::Endpoint;
use crate::memory::MPTCP_PIECE;

/// Interval while no subflow's timer runs (TCP_RTO_MIN).
const MIN_INTERVAL: Time = Time::from_millis(200);

#[derive(Clone, Copy, Debug)]
pub(super) struct DataTimer {
    pub(super) at: Time,
    interval: Time,
    /// End of the fragment of the stream for which the interval was set.
    set_until: u64,
}

impl DataTimer {
    pub(super) const OFF: DataTimer = DataTimer {
        at: Time::MAX,
        interval: MIN_INTERVAL,
        set_until: 0,
    };

    #[inline]
    fn is_off(&self) -> bool {
        self.at == Time::MAX
    }
}

#[inline]
fn fragment_end(offset: u64) -> u64 {
    offset - offset % MPTCP_PIECE + MPTCP_PIECE
}

impl Endpoint {
    #[inline]
    pub(super) fn start_data_timer(&mut self, now: Time) {
        let nxt = self.tx.nxt;
        if nxt >= self.timers.data.set_until || self.timers.data.is_off() {
            self.timers.data.set_until = fragment_end(nxt);
            self.set_data_interval(now);
        }
        if self.timers.data.is_off() {
            self.restart_data_timer(now);
        }
    }

    /// Sets the interval to the longest remaining time of the subflows' timers, once per fragment of the
    /// stream (`mptcp_set_timeout`).
    #[inline(never)]
    fn set_data_interval(&mut self, now: Time) {
        let running = self.subflows.iter().map(|flow| flow.sender.timer_at());
        let latest = running.filter(|&at| at != Time::MAX).max();
        let left = latest.map_or(Time::ZERO, |at| at.saturating_sub(now));
        self.timers.data.interval = match left {
            Time::ZERO => MIN_INTERVAL,
            left => left,
        };
    }

    #[inline]
    fn restart_data_timer(&mut self, now: Time) {
        self.timers.data.at = now + self.timers.data.interval;
        self.timers.note(self.timers.data.at);
    }

    /// Handles an acknowledgement of new data of the connection (`__mptcp_clean_una`).
    #[inline]
    pub(super) fn on_data_acknowledged(&mut self, now: Time) {
        if self.timers.data.is_off() {
            return;
        }
        if self.tx.una == self.tx.nxt && self.tx.all_assigned() {
            self.timers.data.at = Time::MAX;
        } else {
            self.restart_data_timer(now);
        }
    }

    /// Handles expiry: retransmits the first unacknowledged data, up to the end of their fragment, on the
    /// first subflow without unacknowledged data, if any (`mptcp_subflow_get_retrans`, `__mptcp_retrans`).
    pub(super) fn retransmit_data(&mut self, now: Time) {
        self.timers.data.at = Time::MAX;
        let (una, nxt) = (self.tx.una, self.tx.nxt);
        if una == nxt && self.tx.all_assigned() {
            return;
        }
        self.restart_data_timer(now);
        self.set_data_interval(now);
        let mut subflows = self.table.iter().zip(&self.subflows);
        let idle = subflows.position(|(state, flow)| {
            state.usable && !state.backup && flow.sender.is_idle() && flow.queue.is_empty()
        });
        let Some(subflow) = idle else {
            return;
        };
        let (mss, end) = (self.table[subflow].mss, fragment_end(una).min(nxt));
        let mut start = una;
        while start < end {
            let len = mss.min(end - start);
            self.queue_on(subflow, start, len);
            start += len;
        }
        self.output.data = true;
    }
}
