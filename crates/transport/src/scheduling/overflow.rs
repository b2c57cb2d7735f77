//! Primary, then overflow: a more expensive subflow is used only while the cheaper ones do not suffice. The
//! order is by priority number, then by cost. The aggregation applies the same rule to its carriers; with
//! earliest arrival, to the carriers that it needs.

use ropewalk_quantities::Time;

use super::min_rtt::fastest;
use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Primary, then overflow: an expensive subflow is used only while the cheaper ones would need longer
    /// than `after` for the waiting data. Of the subflows in use, the one with the lowest RTT sends.
    pub struct OverflowConfig: "overflow", "this project", [] {
        /// Longest time that the cheaper subflows may need for the waiting data.
        after: time(Time::ZERO, Time::from_secs(3600)) = Time::from_millis(100), "this project";
    }
}

impl OverflowConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> Overflow {
        Overflow { after: self.after }
    }

    /// Whether the cheaper subflows, given by their rates in bytes per second, would take too long for the
    /// waiting bytes.
    pub fn is_needed(self, waiting: u64, cheaper: impl Iterator<Item = f64>) -> bool {
        let mut cheaper = cheaper.peekable();
        if cheaper.peek().is_none() {
            return true;
        }
        let rate: f64 = cheaper.sum();
        waiting as f64 / rate > self.after.as_secs_f64()
    }
}

/// State of the scheduler on one connection.
#[derive(Clone, Copy, Debug)]
pub struct Overflow {
    after: Time,
}

impl Scheduler for Overflow {
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        let config = OverflowConfig { after: self.after };
        let is_needed = |own: &SubflowState| {
            let usable = subflows.iter().filter(|state| state.usable);
            let cheaper = usable.filter(|state| state.price() < own.price());
            config.is_needed(pending.unsent, cheaper.map(SubflowState::rate_or_guess))
        };
        let chosen = fastest(subflows, |state| state.can_send() && is_needed(state));
        chosen.map_or(Choice::Wait, Choice::Send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, SETTINGS, pending, subflow};

    #[test]
    fn expensive_subflow_is_used_while_cheap_is_insufficient() {
        // A fast, expensive subflow, and a cheap one of 10 segments in 50 ms: 200 per second.
        let mut table = [subflow(10, 0, 10), subflow(10, 0, 50)];
        table[0].cost = 10.0;
        let mut overflow = OverflowConfig::DEFAULT.build(&SETTINGS);
        assert_eq!(overflow.choose(&pending(20), &table), Choice::Send(1));
        assert_eq!(overflow.choose(&pending(21), &table), Choice::Send(0));
        table[1].in_flight = 10 * MSS;
        assert_eq!(overflow.choose(&pending(20), &table), Choice::Wait);
        assert_eq!(overflow.choose(&pending(21), &table), Choice::Send(0));
        table[1].priority = 1;
        assert_eq!(overflow.choose(&pending(1), &table), Choice::Send(0));
        table[1].priority = 0;
        table[1].usable = false;
        assert_eq!(overflow.choose(&pending(1), &table), Choice::Send(0));
    }
}
