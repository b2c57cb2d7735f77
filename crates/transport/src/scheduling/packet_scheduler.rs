//! The registry of schedulers: one arm for each, one for a user's own.

use std::fmt;

use super::{
    Blest, BlestConfig, Choice, Ecf, EcfConfig, LingerTime, MinRtt, ObservedThroughput, Pending,
    Redundant, RoundRobin, Scheduler, Weighted,
};
use crate::{Config, SchedulerKind, SubflowState};

/// Any scheduler; the built-in ones are called without a virtual call.
pub enum PacketScheduler {
    /// `min-rtt`
    MinRtt(MinRtt),
    /// `min-rtt` with `assign_ahead`
    LingerTime(LingerTime),
    /// `round-robin`
    RoundRobin(RoundRobin),
    /// `weighted`
    Weighted(Weighted),
    /// `redundant`
    Redundant(Redundant),
    /// `blest`
    Blest(Blest),
    /// `ecf`
    Ecf(Ecf),
    /// `observed-throughput`
    ObservedThroughput(ObservedThroughput),
    /// A user's own.
    Custom(Box<dyn Scheduler + Send>),
}

impl PacketScheduler {
    /// What a configuration names.
    pub fn new(config: &Config) -> PacketScheduler {
        match config.scheduler {
            SchedulerKind::MinRtt if config.assign_ahead => {
                PacketScheduler::LingerTime(LingerTime::new(config.send_buffer.as_u64()))
            }
            SchedulerKind::MinRtt => PacketScheduler::MinRtt(MinRtt),
            SchedulerKind::RoundRobin => PacketScheduler::RoundRobin(RoundRobin::default()),
            SchedulerKind::Weighted => PacketScheduler::Weighted(Weighted::default()),
            SchedulerKind::Redundant => PacketScheduler::Redundant(Redundant),
            SchedulerKind::Blest => PacketScheduler::Blest(BlestConfig::default().build()),
            SchedulerKind::Ecf => PacketScheduler::Ecf(EcfConfig::default().build()),
            SchedulerKind::ObservedThroughput => {
                PacketScheduler::ObservedThroughput(ObservedThroughput::default())
            }
        }
    }
}

/// Calls the same method of whichever scheduler it is.
macro_rules! each {
    ($scheduler:expr, $algorithm:ident => $call:expr) => {
        match $scheduler {
            PacketScheduler::MinRtt($algorithm) => $call,
            PacketScheduler::LingerTime($algorithm) => $call,
            PacketScheduler::RoundRobin($algorithm) => $call,
            PacketScheduler::Weighted($algorithm) => $call,
            PacketScheduler::Redundant($algorithm) => $call,
            PacketScheduler::Blest($algorithm) => $call,
            PacketScheduler::Ecf($algorithm) => $call,
            PacketScheduler::ObservedThroughput($algorithm) => $call,
            PacketScheduler::Custom($algorithm) => $call,
        }
    };
}

impl Scheduler for PacketScheduler {
    #[inline(always)]
    fn choose(&mut self, pending: &Pending, subflows: &[SubflowState]) -> Choice {
        each!(self, algorithm => algorithm.choose(pending, subflows))
    }

    fn on_window_blocked(&mut self) {
        each!(self, algorithm => algorithm.on_window_blocked());
    }
}

impl fmt::Debug for PacketScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PacketScheduler::MinRtt(algorithm) => algorithm.fmt(f),
            PacketScheduler::LingerTime(algorithm) => algorithm.fmt(f),
            PacketScheduler::RoundRobin(algorithm) => algorithm.fmt(f),
            PacketScheduler::Weighted(algorithm) => algorithm.fmt(f),
            PacketScheduler::Redundant(algorithm) => algorithm.fmt(f),
            PacketScheduler::Blest(algorithm) => algorithm.fmt(f),
            PacketScheduler::Ecf(algorithm) => algorithm.fmt(f),
            PacketScheduler::ObservedThroughput(algorithm) => algorithm.fmt(f),
            PacketScheduler::Custom(_) => f.write_str("Custom"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ropewalk_quantities::Time;

    use super::*;
    use crate::Profile;
    use crate::scheduling::testing::{pending, subflow};

    fn all() -> impl Iterator<Item = (&'static str, PacketScheduler)> {
        SchedulerKind::ALL.iter().map(|kind| {
            let mut config = Config::profile(Profile::Linux);
            config.scheduler = *kind;
            // Who assigns ahead of the windows does not look for room.
            config.assign_ahead = false;
            (kind.name(), PacketScheduler::new(&config))
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
        fn none_sends_where_there_is_no_room_or_no_subflow(
            rounds in prop::collection::vec(
                (prop::collection::vec(any_subflow(), 0..6), 1..1000_u64, 0..500_u64, any::<bool>()),
                1..20,
            )
        ) {
            for (name, mut scheduler) in all() {
                let mut ask = pending(1);
                for (table, unsent, window, blocked) in &rounds {
                    ask.now += Time::from_millis(10);
                    ask.unsent = unsent * 1000;
                    ask.window_size = window * 1000;
                    if *blocked {
                        scheduler.on_window_blocked();
                    }
                    match scheduler.choose(&ask, table) {
                        Choice::Send(number) => prop_assert!(table[number].can_send(), "{name}"),
                        Choice::Assign(number) => prop_assert!(table[number].usable, "{name}"),
                        Choice::SendOn(set) => {
                            prop_assert!(set.iter().all(|number| table[number].usable), "{name}");
                            prop_assert!(set.iter().any(|number| table[number].can_send()), "{name}");
                        }
                        Choice::Wait => {
                            // A lone subflow is never left waiting.
                            let usable = table.iter().filter(|state| state.usable).count();
                            let room = table.iter().any(SubflowState::can_send);
                            prop_assert!(usable > 1 || !room, "{name}");
                        }
                        Choice::WaitUntil(time) => prop_assert!(time > ask.now, "{name}"),
                    }
                }
            }
        }
    }

    #[test]
    fn the_simple_ones_never_waste_room() {
        for (name, mut scheduler) in all() {
            if ["blest", "ecf"].contains(&name) {
                continue;
            }
            let table = [subflow(10, 10, 20), subflow(10, 9, 900)];
            let choice = scheduler.choose(&pending(1), &table);
            assert_ne!(choice, Choice::Wait, "{name}");
        }
    }
}
