use crate::SubflowState;

/// Congestion window and slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window, in bytes.
    pub cwnd: u64,
    /// Slow-start threshold, in bytes; `u64::MAX` until the first loss.
    pub ssthresh: u64,
}

impl Window {
    pub(crate) fn of(state: &SubflowState) -> Window {
        Window {
            cwnd: state.cwnd,
            ssthresh: state.ssthresh,
        }
    }
}
