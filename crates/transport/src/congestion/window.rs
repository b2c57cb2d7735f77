use crate::SubflowState;

/// Congestion window and slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold; `u64::MAX` until the first loss.
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
