//! MP-DASH scheduler (Han, Qian, Ji and Gopalakrishnan, "MP-DASH: Adaptive video streaming over
//! preference-aware multipath", CoNEXT 2016, section 4). The cheap path always carries as much as it can of a
//! chunk with a deadline. The expensive path is enabled while the cheap one's throughput over the rest of a
//! fraction `alpha` of the time is less than the rest of the chunk. Of the enabled paths, the one with the
//! lowest RTT sends. Here a chunk is a write with a deadline, and there may be several prices.

use ropewalk_quantities::Time;

use super::min_rtt::fastest;
use super::rate::Rate;
use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// MP-DASH: an expensive subflow is used only while the cheaper ones would miss the deadline of the
    /// current write. Data without a deadline use the cheapest subflow.
    pub struct MpDashConfig: "mp-dash", "Han et al., MP-DASH, 2016", [] {
        /// Fraction of the time from write to deadline after which the write must have arrived.
        alpha: number(0.05, 1.0) = 1.0, "Han et al., MP-DASH, 2016";
    }
}

impl MpDashConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> MpDash {
        MpDash {
            alpha: self.alpha,
            rates: Vec::new(),
        }
    }
}

/// State of MP-DASH on one connection.
#[derive(Clone, Debug)]
pub struct MpDash {
    alpha: f64,
    rates: Vec<Rate>,
}

impl MpDash {
    /// Seconds by which the subflows cheaper than `own` deliver the rest before its deadline; `None` without
    /// cheaper ones, when `own` is needed in any case.
    fn spare(
        &self,
        own: &SubflowState,
        left: RestOfWrite,
        subflows: &[SubflowState],
    ) -> Option<f64> {
        let cheaper = self.rates.iter().zip(subflows);
        let cheaper = cheaper.filter(|(_, state)| state.usable && state.price() < own.price());
        let (mut rate, mut bytes) = (0.0, left.bytes as f64);
        for (known, state) in cheaper {
            rate += known.or_guess(state);
            bytes += (state.in_flight + state.queued) as f64;
        }
        (rate > 0.0).then(|| left.seconds - bytes / rate)
    }
}

/// The rest of a write: its unassigned bytes, and their deadline.
#[derive(Clone, Copy, Debug)]
struct RestOfWrite {
    bytes: u64,
    seconds: f64,
}

impl Scheduler for MpDash {
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        self.rates.resize(subflows.len(), Rate::UNKNOWN);
        for (rate, state) in self.rates.iter_mut().zip(subflows) {
            rate.learn(pending.now, state);
        }
        let left = pending.deadline.map_or(
            RestOfWrite {
                bytes: 0,
                seconds: f64::INFINITY,
            },
            |deadline| {
                let margin = (1.0 - self.alpha) * deadline.span.as_secs_f64();
                let until = deadline.at.as_secs_f64() - margin;
                RestOfWrite {
                    bytes: pending.left_of_write,
                    seconds: until - pending.now.as_secs_f64(),
                }
            },
        );
        let spare = |state: &SubflowState| self.spare(state, left, subflows);
        let is_on =
            |state: &SubflowState| state.can_send() && spare(state).is_none_or(|spare| spare < 0.0);
        if let Some(number) = fastest(subflows, is_on) {
            return Choice::Send(number);
        }
        // Time to enable the first of the others, unless data are acknowledged before.
        let others = subflows.iter().filter(|state| state.can_send());
        let first = others.filter_map(spare).reduce(f64::min);
        match first.filter(|spare| spare.is_finite()) {
            Some(spare) => {
                let spare = Time::from_secs_f64(spare).saturating_add(Time::from_nanos(1));
                Choice::WaitUntil(pending.now.saturating_add(spare))
            }
            None => Choice::Wait,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Deadline;
    use crate::scheduling::testing::{MSS, SETTINGS, link, pending};

    fn choose(alpha: f64, left_ms: Option<u64>, segments: u64, table: &[SubflowState]) -> Choice {
        let input = Pending {
            now: Time::from_secs(1),
            deadline: left_ms.map(|left| Deadline {
                at: Time::from_millis(1000 + left),
                span: Time::from_millis(500),
            }),
            left_of_write: segments * MSS,
            ..pending(100)
        };
        MpDashConfig { alpha }
            .build(&SETTINGS)
            .choose(&input, table)
    }

    #[test]
    fn expensive_subflow_is_enabled_while_cheap_is_too_slow() {
        // 10 segments in flight on the cheap one, at 100 per second, and 30 more: 400 ms.
        let mut table = [link(100, 50, 1.0), link(1000, 20, 10.0)];
        assert_eq!(choose(1.0, Some(401), 30, &table), Choice::Send(0));
        assert_eq!(choose(1.0, Some(399), 30, &table), Choice::Send(1));
        assert_eq!(choose(0.9, Some(451), 30, &table), Choice::Send(0));
        assert_eq!(choose(0.9, Some(449), 30, &table), Choice::Send(1));
        // Late data use all subflows; without a deadline the cheap one is enough.
        assert_eq!(choose(1.0, Some(0), 1, &table), Choice::Send(1));
        assert_eq!(choose(1.0, None, 0, &table), Choice::Send(0));
        table[0].cwnd = 10 * MSS;
        let later = Choice::WaitUntil(Time::from_millis(1200) + Time::from_nanos(1));
        assert_eq!(choose(1.0, Some(600), 30, &table), later);
        assert_eq!(choose(1.0, None, 0, &table), Choice::Wait);
        table[0].usable = false;
        assert_eq!(choose(1.0, None, 0, &table), Choice::Send(1));
    }
}
