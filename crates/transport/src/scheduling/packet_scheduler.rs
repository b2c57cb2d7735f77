//! Dispatches the calls of a connection's scheduler.

use super::{Choice, CopyDecision, InFlightData, PacketScheduler, Pending, Scheduler};
use crate::SubflowState;

impl Scheduler for PacketScheduler {
    #[inline(always)]
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        each_scheduler!(self, algorithm => algorithm.choose(pending, subflows))
    }

    fn on_window_blocked(&mut self) {
        each_scheduler!(self, algorithm => algorithm.on_window_blocked());
    }

    fn decide_copy(&mut self, data: &InFlightData, subflows: &[SubflowState]) -> CopyDecision {
        each_scheduler!(self, algorithm => algorithm.decide_copy(data, subflows))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ropewalk_quantities::Time;

    use super::*;
    use crate::algorithm::AlgorithmConfig;
    use crate::scheduling::SchedulerConfig;
    use crate::scheduling::testing::{SETTINGS, pending, subflow};

    fn all() -> impl Iterator<Item = (String, PacketScheduler)> {
        let configs = SchedulerConfig::defaults().into_iter();
        configs.map(|config| {
            let scheduler = config.build(&SETTINGS);
            (config.name().to_owned(), scheduler)
        })
    }

    prop_compose! {
        fn any_subflow()(
            (window, in_flight, srtt_ms) in (1..30_u64, 0..30_u64, 0..200_u64),
            (usable, in_recovery) in (any::<bool>(), any::<bool>()),
            (queued, rate, rttvar_ms) in (0..5000_u64, 0..3_u32, 0..100_u64),
        ) -> SubflowState {
            SubflowState {
                usable,
                in_recovery,
                queued,
                delivery_rate: f64::from(rate) * 1e5,
                rttvar: Time::from_millis(rttvar_ms),
                ..subflow(window, in_flight, srtt_ms)
            }
        }
    }

    proptest! {
        #[test]
        fn schedulers_send_only_on_subflows_with_space(
            rounds in prop::collection::vec(
                (prop::collection::vec(any_subflow(), 0..6), 1..1000_u64, 0..500_u64, any::<bool>()),
                1..20,
            )
        ) {
            for (name, mut scheduler) in all() {
                let mut input = pending(1);
                for (table, unsent, window, blocked) in &rounds {
                    input.now += Time::from_millis(10);
                    input.unsent = unsent * 1000;
                    input.written = input.unsent;
                    input.window_size = window * 1000;
                    if *blocked {
                        scheduler.on_window_blocked();
                    }
                    match scheduler.choose(&input, table) {
                        Choice::Send(number) => prop_assert!(table[number].can_send(), "{name}"),
                        Choice::Assign(number) => prop_assert!(table[number].usable, "{name}"),
                        Choice::SendOn(set) => {
                            prop_assert!(set.iter().all(|number| table[number].usable), "{name}");
                            prop_assert!(set.iter().any(|number| table[number].can_send()), "{name}");
                        }
                        Choice::Wait => {
                            let usable = table.iter().filter(|state| state.usable).count();
                            let room = table.iter().any(SubflowState::can_send);
                            prop_assert!(usable > 1 || !room, "{name}");
                        }
                        Choice::WaitUntil(time) => prop_assert!(time > input.now, "{name}"),
                    }
                }
            }
        }
    }

    #[test]
    fn simple_schedulers_use_all_space() {
        for (name, mut scheduler) in all() {
            if ["blest", "ecf", "overflow"].contains(&name.as_str()) {
                continue;
            }
            let table = [subflow(10, 10, 20), subflow(10, 9, 900)];
            let choice = scheduler.choose(&pending(1), &table);
            assert_ne!(choice, Choice::Wait, "{name}");
        }
    }
}
