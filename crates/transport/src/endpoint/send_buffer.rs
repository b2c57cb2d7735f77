//! Autotuning of send buffers with the congestion window, as in Linux. A subflow's buffer is twice the memory
//! of its congestion window (`tcp_sndbuf_expand`), an MPTCP connection's the sum of them
//! (`__mptcp_sync_sndbuf`). Queueing there is most of the delay of bulk data.

use crate::endpoint::Endpoint;
use crate::memory::{MIN_SEND_BUFFER, send_buffer_for};

impl Endpoint {
    /// Grows a subflow's buffer with its window after an acknowledgement, while the application is blocked.
    /// The kernel requires a window that is not full (`tcp_check_space`, `tcp_should_expand_sndbuf`), which
    /// holds whenever the window has grown by a segment (`tcp_tso_should_defer`).
    #[inline]
    pub(super) fn expand_send_buffer(&mut self, subflow: usize) {
        if self.tx.grows && self.table[subflow].cwnd > self.subflows[subflow].buffered_cwnd {
            self.expand_send_buffer_to_window(subflow);
        }
    }

    /// Grows a subflow's buffer to its window in any case, also just after the handshake.
    #[inline(never)]
    pub(super) fn expand_send_buffer_to_window(&mut self, subflow: usize) {
        let state = &mut self.table[subflow];
        if !self.tx.grows {
            state.send_buffer = self.config.send_buffer.size.as_u64();
            return;
        }
        self.subflows[subflow].buffered_cwnd = state.cwnd;
        let wanted = send_buffer_for(state.cwnd / state.mss, self.config.segment.as_u64());
        state.send_buffer = wanted.min(self.config.send_buffer.size.as_u64());
        let own = match self.handshake.multipath {
            true => MIN_SEND_BUFFER,
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
