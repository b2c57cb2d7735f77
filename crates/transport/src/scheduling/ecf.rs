//! ECF, earliest completion first (Lim, Nahum, Towsley and Gibbens, CoNEXT 2017). A decision to wait has
//! hysteresis beta. k / CWND is at least one round trip, as in the authors' kernel: a transfer shorter than a
//! window takes a whole round trip too.

use super::min_rtt::{fastest, worth_waiting_for};
use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Earliest completion first: skips a slow subflow if waiting for the fast one would complete the
    /// remaining data sooner.
    pub struct EcfConfig: "ecf", "Lim et al., CoNEXT 2017", [] {
        /// Hysteresis of the decision to wait: relative advantage in completion time that the slow subflow
        /// needs to end the wait.
        beta: number(0.0, 100.0) = 0.25, "the authors' kernel module";
    }
}

impl EcfConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> Ecf {
        Ecf {
            config: self,
            waiting: false,
        }
    }
}

/// State of ECF on one connection.
#[derive(Clone, Copy, Debug)]
pub struct Ecf {
    config: EcfConfig,
    waiting: bool,
}

impl Scheduler for Ecf {
    #[inline]
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        let Some(chosen) = fastest(subflows, SubflowState::can_send) else {
            return Choice::Wait;
        };
        let slow = &subflows[chosen];
        let Some(fast) = worth_waiting_for(slow, subflows) else {
            return Choice::Send(chosen);
        };
        let (rtt_f, rtt_s) = (fast.srtt.as_nanos() as f64, slow.srtt.as_nanos() as f64);
        // delta = max(sigma_f, sigma_s)
        let delta = fast.rttvar.max(slow.rttvar).as_nanos() as f64;
        // n = 1 + k / CWND_f: the round trip until there is space, and those of the data.
        let n = 1.0 + round_trips(pending.unsent, fast);
        let beta = if self.waiting { self.config.beta } else { 0.0 };
        if n * rtt_f < (1.0 + beta) * (rtt_s + delta) {
            // k / CWND_s * RTT_s >= 2 RTT_f + delta: the slow one would not complete earlier.
            if round_trips(pending.unsent, slow) * rtt_s >= 2.0 * rtt_f + delta {
                self.waiting = true;
                return Choice::Wait;
            }
        } else {
            self.waiting = false;
        }
        Choice::Send(chosen)
    }
}

/// k / CWND, at least one.
#[inline]
fn round_trips(unsent: u64, state: &SubflowState) -> f64 {
    (unsent as f64 / state.cwnd.max(1) as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Time;

    use super::*;
    use crate::scheduling::testing::{MSS, SETTINGS, pending, subflow};

    #[test]
    fn waits_at_the_end_and_uses_both_in_the_middle() {
        let table = [subflow(10, 10, 20), subflow(10, 0, 100)];
        let mut ecf = EcfConfig::default().build(&SETTINGS);
        // n = 1 + 40 / 10 = 5: 100 ms, not earlier than 100 ms on the slow one.
        assert_eq!(ecf.choose(&pending(40), &table), Choice::Send(1));
        // n = 4.9: 98 ms; the slow one needs 3.9 * 100 ms.
        assert_eq!(ecf.choose(&pending(39), &table), Choice::Wait);
        // Waiting persists up to 1.25 * 100 ms: n = 6.2, not n = 6.3.
        assert_eq!(ecf.choose(&pending(52), &table), Choice::Wait);
        assert_eq!(ecf.choose(&pending(53), &table), Choice::Send(1));
        assert_eq!(ecf.choose(&pending(52), &table), Choice::Send(1));
    }

    #[test]
    fn variation_counts_against_waiting() {
        let mut table = [subflow(10, 10, 20), subflow(10, 0, 45)];
        let mut ecf = EcfConfig::default().build(&SETTINGS);
        // One segment: 2 * 20 < 45 and 45 >= 40.
        assert_eq!(ecf.choose(&pending(1), &table), Choice::Wait);
        // delta 6 ms: 40 < 51, but 45 < 46.
        table[0].rttvar = Time::from_millis(6);
        assert_eq!(ecf.choose(&pending(1), &table), Choice::Send(1));
    }

    #[test]
    fn the_fast_subflow_is_used_while_it_has_room() {
        let mut table = [subflow(10, 9, 20), subflow(10, 0, 100)];
        let mut ecf = EcfConfig::default().build(&SETTINGS);
        assert_eq!(ecf.choose(&pending(1), &table), Choice::Send(0));
        table[0].usable = false;
        assert_eq!(ecf.choose(&pending(1), &table), Choice::Send(1));
        table[1].in_flight = 10 * MSS;
        assert_eq!(ecf.choose(&pending(1), &table), Choice::Wait);
    }
}
