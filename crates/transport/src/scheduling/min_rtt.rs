//! Lowest smoothed RTT among the subflows with space: the scheduler of the literature, and of the out-of-tree
//! MPTCP for Linux.

use super::{Choice, Pending, Scheduler, Settings, expects_room};
use crate::SubflowState;
use crate::algorithm::algorithm;

/// The subflow with the lowest smoothed RTT that `passes` accepts; one without a sample comes first, and of
/// equals the lowest number.
#[inline]
pub(super) fn fastest(
    subflows: &[SubflowState],
    passes: impl Fn(&SubflowState) -> bool,
) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (number, state) in subflows.iter().enumerate() {
        if passes(state) && best.is_none_or(|best| state.srtt < subflows[best].srtt) {
            best = Some(number);
        }
    }
    best
}

/// The subflow that a segment may wait for instead of being sent on `slow`: the one with the lowest smoothed
/// RTT, if lower, of all that will have space.
#[inline]
pub(super) fn worth_waiting_for<'a>(
    slow: &SubflowState,
    subflows: &'a [SubflowState],
) -> Option<&'a SubflowState> {
    let best = &subflows[fastest(subflows, expects_room)?];
    (best.srtt < slow.srtt).then_some(best)
}

algorithm! {
    /// The subflow with the lowest smoothed RTT of all that have space in their congestion windows.
    pub struct MinRttConfig: "min-rtt", "Raiciu et al., NSDI 2012; multipath-tcp.org's Linux, v0.95", [] {}
}

impl MinRttConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> MinRtt {
        MinRtt
    }
}

/// Scheduler by lowest RTT; it has no state.
#[derive(Clone, Copy, Debug, Default)]
pub struct MinRtt;

impl Scheduler for MinRtt {
    #[inline]
    fn choose(&mut self, _pending: &Pending, subflows: &[SubflowState]) -> Choice {
        fastest(subflows, SubflowState::can_send).map_or(Choice::Wait, Choice::Send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, pending, subflow};

    #[test]
    fn uses_fastest_with_space() {
        let mut table = [
            subflow(10, 0, 50),
            subflow(10, 0, 20),
            subflow(10, 0, 20),
            subflow(10, 0, 30),
        ];
        assert_eq!(MinRtt.choose(&pending(100), &table), Choice::Send(1));
        table[1].in_flight = 10 * MSS;
        table[2].queued = 9 * MSS + 1;
        assert_eq!(MinRtt.choose(&pending(100), &table), Choice::Send(3));
        table[3].usable = false;
        assert_eq!(MinRtt.choose(&pending(100), &table), Choice::Send(0));
        table[0].in_flight = 10 * MSS;
        assert_eq!(MinRtt.choose(&pending(100), &table), Choice::Wait);
    }

    #[test]
    fn subflow_without_rtt_is_tried() {
        let table = [subflow(10, 0, 20), subflow(10, 0, 0)];
        assert_eq!(MinRtt.choose(&pending(100), &table), Choice::Send(1));
    }
}
