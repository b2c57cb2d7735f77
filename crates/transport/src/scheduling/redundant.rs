//! Redundant scheduler: all data on every subflow; trades capacity for low delay and freedom from gaps. A
//! segment is sent as soon as one subflow has space; the others queue their copy.

use super::{Choice, Pending, Scheduler, Settings, SubflowSet};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Sends all data on every subflow; the first copy to arrive counts.
    pub struct RedundantConfig: "redundant", "Frommgen et al., IEEE ICC 2016", [] {}
}

impl RedundantConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> Redundant {
        Redundant
    }
}

/// Scheduler that copies to each usable subflow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redundant;

impl Scheduler for Redundant {
    #[inline]
    fn choose(&mut self, _pending: &Pending, subflows: &[SubflowState]) -> Choice {
        if !subflows.iter().any(SubflowState::can_send) {
            return Choice::Wait;
        }
        let usable = (subflows.iter().enumerate())
            .filter(|(_, state)| state.usable)
            .fold(SubflowSet::default(), |set, (number, _)| set.with(number));
        Choice::SendOn(usable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, pending, subflow};

    #[test]
    fn redundant_sends_on_all_usable_subflows_if_one_has_space() {
        let mut table = [subflow(10, 0, 50), subflow(10, 10, 20), subflow(10, 0, 30)];
        table[2].usable = false;
        let both = SubflowSet::default().with(0).with(1);
        let choice = Redundant.choose(&pending(100), &table);
        assert_eq!(choice, Choice::SendOn(both));
        table[0].in_flight = 10 * MSS;
        assert_eq!(Redundant.choose(&pending(100), &table), Choice::Wait);
    }
}
