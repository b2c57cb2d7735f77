//! What the coupled schemes share: who takes part, which window counts, and the
//! bookkeeping around an increase that is a fraction of a byte.
//!
//! Slow start stays as it is on each subflow (RFC 6356, section 3).

use super::flight_size::FlightSize;
use super::{Acked, SlowStart};
use crate::SubflowState;

/// A subflow that takes part in coupling.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'a> {
    pub(super) state: &'a SubflowState,
    /// Congestion window, in bytes.
    pub(super) window: f64,
    /// Smoothed round-trip time, in nanoseconds.
    pub(super) rtt: f64,
}

/// The subflow as a path, if it takes part: one that is not usable or was never
/// timed does not.
#[inline]
pub(super) fn path(state: &SubflowState) -> Option<Path<'_>> {
    let rtt = state.srtt.as_nanos();
    (state.usable && rtt > 0).then(|| Path {
        state,
        window: window(state),
        rtt: rtt as f64,
    })
}

/// All paths of the connection.
#[inline]
pub(super) fn paths(subflows: &[SubflowState]) -> impl Iterator<Item = Path<'_>> {
    subflows.iter().filter_map(path)
}

/// The window that counts in the sums, in bytes: RFC 6356, section 3, takes
/// ssthresh in fast retransmit, where cwnd may be inflated.
#[inline]
fn window(state: &SubflowState) -> f64 {
    let window = if state.in_recovery {
        state.cwnd.min(state.ssthresh)
    } else {
        state.cwnd
    };
    window.max(1) as f64
}

/// The windows of a connection whose increase is coupled.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    slow_start: SlowStart,
    subflows: Vec<Share>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Share {
    /// Growth not yet worth a byte; negative where a scheme shrinks the window.
    fraction: f64,
    flight_size: FlightSize,
}

impl Coupling {
    pub(super) fn new(byte_counting: bool) -> Coupling {
        Coupling {
            slow_start: SlowStart { byte_counting },
            subflows: Vec::new(),
        }
    }

    pub(super) fn add_subflow(&mut self, subflow: usize) {
        if self.subflows.len() <= subflow {
            self.subflows.resize_with(subflow + 1, Share::default);
        }
    }

    /// New cwnd in bytes, where congestion avoidance grows by `increase` bytes
    /// for each byte acknowledged. A subflow that takes no part grows as
    /// NewReno does.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        subflow: usize,
        acked: &Acked,
        subflows: &[SubflowState],
        increase: impl FnOnce(&Path<'_>) -> f64,
    ) -> u64 {
        let state = &subflows[subflow];
        let share = &mut self.subflows[subflow];
        share.flight_size.note(acked);
        let mss = state.mss;
        let cwnd = state.cwnd.max(mss);
        if !acked.cwnd_limited {
            return cwnd;
        }
        let grown = self.slow_start.grow(cwnd, state.ssthresh, mss, acked.bytes);
        if grown.left == 0 {
            return grown.cwnd;
        }
        let bytes = self.slow_start.counted(grown.left, mss) as f64;
        let per_byte = match path(state) {
            Some(path) => increase(&path),
            None => mss as f64 / cwnd as f64,
        };
        let exact = (grown.cwnd as f64 + share.fraction + bytes * per_byte).max(mss as f64);
        share.fraction = exact.fract();
        exact as u64
    }

    /// FlightSize at a loss, in bytes; growth so far is forgotten.
    pub(super) fn flight_size(&mut self, subflow: usize, state: &SubflowState) -> u64 {
        let share = &mut self.subflows[subflow];
        share.fraction = 0.0;
        share.flight_size.bytes(state)
    }

    /// RFC 5681, equation (4), with the least ssthresh in segments.
    pub(super) fn halve(&mut self, subflow: usize, state: &SubflowState, least: u64) -> u64 {
        (self.flight_size(subflow, state) / 2).max(least * state.mss)
    }
}
