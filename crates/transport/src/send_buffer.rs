//! The growth of TCP's send buffer with its congestion window, as Linux has it.

use crate::endpoint::Endpoint;
use crate::memory::send_buffer_for;

impl Endpoint {
    /// An acknowledgement arrived while the application would write more: if the window will not
    /// be full when all that may leave has left, the buffer is what holds the connection back
    /// (`tcp_check_space`, `tcp_should_expand_sndbuf`).
    #[inline]
    pub(crate) fn expand_send_buffer(&mut self) {
        if !self.tx.grows() {
            return;
        }
        let state = &self.table[0];
        let leaves = self.tx.unsent().min(self.tx.window());
        if state.in_flight + leaves < state.cwnd {
            self.expand_send_buffer_to(state.cwnd / state.mss);
        }
    }

    #[inline(never)]
    fn expand_send_buffer_to(&mut self, segments: u64) {
        let wanted = send_buffer_for(segments, self.config.segment.as_u64());
        self.tx.expand(wanted.min(self.config.send_buffer.as_u64()));
    }
}
