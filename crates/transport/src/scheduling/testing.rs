//! Test utilities for several schedulers.

use ropewalk_quantities::Time;

use super::{Pending, Settings, SubflowSet};
use crate::SubflowState;

pub(super) const MSS: u64 = 1000;

pub(super) const SETTINGS: Settings = Settings { sent_overhead: 0 };

/// A subflow with this window and this much in flight (segments), and this RTT.
pub(super) fn subflow(window: u64, in_flight: u64, srtt_ms: u64) -> SubflowState {
    SubflowState {
        usable: true,
        mss: MSS,
        cwnd: window * MSS,
        in_flight: in_flight * MSS,
        srtt: Time::from_millis(srtt_ms),
        ..SubflowState::default()
    }
}

/// A subflow with this rate in segments per second, RTT, and cost; half of the window is free.
pub(super) fn link(rate: u64, rtt_ms: u64, cost: f64) -> SubflowState {
    SubflowState {
        min_rtt: Time::from_millis(rtt_ms),
        delivery_rate: (rate * MSS) as f64,
        cost,
        ..subflow(20, 10, rtt_ms)
    }
}

pub(super) fn pending(segments: u64) -> Pending {
    Pending {
        now: Time::ZERO,
        unsent: segments * MSS,
        window: 1 << 40,
        window_size: 1 << 40,
        written: segments * MSS,
        acknowledged: 0,
        deadline: None,
        left_of_write: 0,
        changed: SubflowSet::ALL,
    }
}
