//! The retransmission timer of an MPTCP connection, as Linux has it (`mptcp_retransmit_timer`): for data that
//! their subflow has delivered and the receiver dropped, beyond the window that subflows share.

use ropewalk_quantities::Time;

use crate::endpoint::Endpoint;
use crate::memory::MPTCP_PIECE;

/// Its interval while no subflow's timer runs (TCP_RTO_MIN).
const MIN_INTERVAL: Time = Time::from_millis(200);

/// When the first unacknowledged data of the connection are sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataTimer {
    at: Time,
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

    /// When it expires, or [`Time::MAX`].
    #[inline]
    pub(super) fn at(&self) -> Time {
        self.at
    }

    #[inline]
    fn is_off(&self) -> bool {
        self.at == Time::MAX
    }
}

/// End of the fragment of the stream that contains this offset.
#[inline]
fn fragment_end(offset: u64) -> u64 {
    offset - offset % MPTCP_PIECE + MPTCP_PIECE
}

impl Endpoint {
    /// The next data are assigned to a subflow: the timer runs from now on.
    #[inline]
    pub(super) fn start_data_timer(&mut self, now: Time) {
        let nxt = self.tx.nxt();
        if nxt >= self.timers.data.set_until || self.timers.data.is_off() {
            self.timers.data.set_until = fragment_end(nxt);
            self.set_data_interval(now);
        }
        if self.timers.data.is_off() {
            self.restart_data_timer(now);
        }
    }

    /// The interval is the longest time that a subflow's own timer has left, taken once per fragment of the
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

    /// The peer acknowledged new data of the connection (`__mptcp_clean_una`).
    #[inline]
    pub(super) fn on_data_acknowledged(&mut self, now: Time) {
        if self.timers.data.is_off() {
            return;
        }
        if self.tx.una() == self.tx.nxt() && self.tx.all_assigned() {
            self.timers.data.at = Time::MAX;
        } else {
            self.restart_data_timer(now);
        }
    }

    /// The timer expired: the first unacknowledged data of the stream, up to the end of their fragment, are
    /// sent again on the first subflow that has nothing unacknowledged, if there is one
    /// (`mptcp_subflow_get_retrans`, `__mptcp_retrans`).
    pub(super) fn retransmit_data(&mut self, now: Time) {
        self.timers.data.at = Time::MAX;
        let (una, nxt) = (self.tx.una(), self.tx.nxt());
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
        self.due.data = true;
    }
}
