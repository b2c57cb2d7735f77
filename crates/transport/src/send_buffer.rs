//! The growth of send buffers with the congestion window, as Linux has it.
//!
//! Each subflow has one, for twice the memory of its congestion window (`tcp_sndbuf_expand`); an MPTCP
//! connection has a further one, of all of theirs together (`__mptcp_sync_sndbuf`). What waits there to be
//! sent is most of what bulk data wait for.

use crate::endpoint::Endpoint;
use crate::memory::{LEAST_SEND_BUFFER, send_buffer_for};

impl Endpoint {
    /// An acknowledgement arrived on a subflow while the application would write more: the subflow's
    /// buffer grows with its window. The kernel asks for a window that is not full then
    /// (`tcp_check_space`, `tcp_should_expand_sndbuf`); but where a window has grown by a segment that is so, since
    /// that one waits for a second to leave with (`tcp_tso_should_defer`).
    #[inline]
    pub(crate) fn expand_send_buffer(&mut self, subflow: usize) {
        if self.tx.grows() && self.table[subflow].cwnd > self.subflows[subflow].buffered_cwnd {
            self.expand_send_buffer_to_window(subflow);
        }
    }

    /// The same, and of a subflow that has just been established, whatever its window.
    #[inline(never)]
    pub(crate) fn expand_send_buffer_to_window(&mut self, subflow: usize) {
        let state = &mut self.table[subflow];
        if !self.tx.grows() {
            state.send_buffer = self.config.send_buffer.as_u64();
            return;
        }
        self.subflows[subflow].buffered_cwnd = state.cwnd;
        let wanted = send_buffer_for(state.cwnd / state.mss, self.config.segment.as_u64());
        state.send_buffer = wanted.min(self.config.send_buffer.as_u64());
        let own = match self.multipath {
            true => LEAST_SEND_BUFFER,
            false => 0,
        };
        let of_subflows = self
            .table
            .iter()
            .zip(&self.subflows)
            .filter(|(_, flow)| flow.buffered_cwnd > 0)
            .map(|(state, _)| state.send_buffer);
        self.tx.expand(of_subflows.fold(own, u64::saturating_add));
    }
}
