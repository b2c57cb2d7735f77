//! Shared parts of the coupled algorithms: subflows in the coupling, their windows, fractional bytes of
//! growth. Slow start is unchanged on each subflow (RFC 6356, section 3).

use std::fmt;

use ropewalk_quantities::Time;

use super::real::{greater, real, whole};
use super::{Acked, Congestion, CongestionControl, Settings, SlowStart};
use crate::SubflowState;

/// The increase and decrease rules of a coupled congestion control, which its config implements.
pub(super) trait Coupled: Copy + fmt::Debug {
    /// Bytes that each acknowledged byte adds to the window of `subflow` (whose path is `own`) in congestion
    /// avoidance.
    fn increase(own: &CoupledPath<'_>, subflow: usize, subflows: &[SubflowState]) -> f64;

    /// The new ssthresh at a loss, in bytes; by default "the same as in standard TCP" (RFC 6356, section 3).
    fn decrease(self, state: &mut CouplingState, subflow: usize, subflows: &[SubflowState]) -> u64 {
        state.halve(subflow, &subflows[subflow], 2)
    }
}

/// A coupled congestion control on one connection.
#[derive(Clone, Debug)]
pub struct CoupledControl<C> {
    config: C,
    coupling: CouplingState,
}

impl<C> CoupledControl<C> {
    pub(super) fn new(config: C, settings: &Settings) -> CoupledControl<C> {
        CoupledControl {
            config,
            coupling: CouplingState {
                slow_start: SlowStart {
                    byte_counting: settings.byte_counting,
                },
                fractions: Vec::new(),
                saved: Vec::new(),
            },
        }
    }
}

impl<C: Coupled> CongestionControl for CoupledControl<C> {
    fn add_subflow(&mut self, subflow: usize) {
        let state = &mut self.coupling;
        if state.fractions.len() <= subflow {
            state.fractions.resize(subflow + 1, 0.0);
            state.saved.resize(subflow + 1, 0.0);
        }
    }

    #[inline]
    fn on_ack(&mut self, subflow: usize, acked: &Acked, subflows: &[SubflowState]) -> u64 {
        let increase = |own: &CoupledPath<'_>| C::increase(own, subflow, subflows);
        self.coupling.on_ack(subflow, acked, subflows, increase)
    }

    fn on_congestion(
        &mut self,
        subflow: usize,
        _cause: Congestion,
        _now: Time,
        subflows: &[SubflowState],
    ) -> u64 {
        self.config.decrease(&mut self.coupling, subflow, subflows)
    }

    fn save(&mut self, subflow: usize) {
        self.coupling.saved[subflow] = self.coupling.fractions[subflow];
    }

    fn restore(&mut self, subflow: usize) {
        self.coupling.fractions[subflow] = self.coupling.saved[subflow];
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CoupledPath<'a> {
    pub(super) state: &'a SubflowState,
    pub(super) window: f64,
    /// 1 / srtt, per nanosecond; stored, since divisions dominate the cost.
    pub(super) per_rtt: f64,
}

/// The subflow as a path; `None` if it is not usable or has no RTT sample.
#[inline]
pub(super) fn path(state: &SubflowState) -> Option<CoupledPath<'_>> {
    // RFC 6356, section 3: ssthresh for a subflow in fast retransmit, whose cwnd may be inflated.
    let window = if state.in_recovery {
        state.cwnd.min(state.ssthresh)
    } else {
        state.cwnd
    };
    with_window(state, window)
}

#[inline]
pub(super) fn paths(subflows: &[SubflowState]) -> impl Iterator<Item = CoupledPath<'_>> {
    subflows.iter().filter_map(path)
}

/// The subflow as a path whose window is about to grow: with cwnd even if data that a timeout marked lost are
/// outstanding.
#[inline]
pub(super) fn growing(state: &SubflowState) -> Option<CoupledPath<'_>> {
    with_window(state, state.cwnd)
}

#[inline]
pub(super) fn paths_from(
    own: usize,
    subflows: &[SubflowState],
) -> impl Iterator<Item = CoupledPath<'_>> {
    subflows
        .iter()
        .enumerate()
        .filter_map(move |(number, state)| {
            if number == own {
                growing(state)
            } else {
                path(state)
            }
        })
}

#[inline]
fn with_window(state: &SubflowState, window: u64) -> Option<CoupledPath<'_>> {
    let rtt = state.srtt.as_nanos();
    (state.usable && rtt > 0).then(|| CoupledPath {
        state,
        window: real(window.max(state.mss)),
        per_rtt: 1.0 / real(rtt),
    })
}

#[derive(Clone, Debug)]
pub(super) struct CouplingState {
    slow_start: SlowStart,
    /// Growth of each subflow that does not amount to a byte yet, in bytes.
    fractions: Vec<f64>,
    saved: Vec<f64>,
}

impl CouplingState {
    /// The new cwnd in bytes, when congestion avoidance adds `increase` bytes per acknowledged byte. A
    /// subflow outside the coupling grows as in NewReno.
    #[inline]
    fn on_ack(
        &mut self,
        subflow: usize,
        acked: &Acked,
        subflows: &[SubflowState],
        increase: impl FnOnce(&CoupledPath<'_>) -> f64,
    ) -> u64 {
        let state = &subflows[subflow];
        let mss = state.mss;
        let cwnd = state.cwnd.max(mss);
        if !acked.cwnd_limited {
            return cwnd;
        }
        let grown = self.slow_start.grow(cwnd, state.ssthresh, mss, acked.bytes);
        if grown.left == 0 {
            return grown.cwnd;
        }
        let bytes = real(self.slow_start.counted(grown.left, mss));
        let per_byte = match growing(state) {
            Some(path) => increase(&path),
            None => mss as f64 / cwnd as f64,
        };
        let fraction = &mut self.fractions[subflow];
        let exact = real(grown.cwnd) + *fraction + bytes * per_byte;
        let exact = greater(exact, real(mss));
        let cwnd = whole(exact);
        *fraction = exact - real(cwnd);
        cwnd
    }

    /// FlightSize at a loss, in bytes, at most cwnd; resets the fraction.
    pub(super) fn flight_size(&mut self, subflow: usize, state: &SubflowState) -> u64 {
        self.fractions[subflow] = 0.0;
        state.in_flight.min(state.cwnd)
    }

    /// RFC 5681, equation (4), with the minimum ssthresh in segments.
    pub(super) fn halve(&mut self, subflow: usize, state: &SubflowState, least: u64) -> u64 {
        (self.flight_size(subflow, state) / 2).max(least * state.mss)
    }
}
