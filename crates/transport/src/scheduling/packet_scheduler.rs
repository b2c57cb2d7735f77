//! The registry of schedulers: one arm for each, one for a user's own.

use std::fmt;

use super::{
    Blest, BlestConfig, Choice, Ecf, EcfConfig, MinRtt, Pending, Redundant, RoundRobin, Scheduler,
    Weighted,
};
use crate::{Config, SchedulerKind, SubflowState};

/// Any scheduler; the built-in ones are called without a virtual call.
pub enum PacketScheduler {
    /// `min-rtt`
    MinRtt(MinRtt),
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
    /// A user's own.
    Custom(Box<dyn Scheduler + Send>),
}

impl PacketScheduler {
    /// What a configuration names.
    pub fn new(config: &Config) -> PacketScheduler {
        match config.scheduler {
            SchedulerKind::MinRtt => PacketScheduler::MinRtt(MinRtt),
            SchedulerKind::RoundRobin => PacketScheduler::RoundRobin(RoundRobin::default()),
            SchedulerKind::Weighted => PacketScheduler::Weighted(Weighted::default()),
            SchedulerKind::Redundant => PacketScheduler::Redundant(Redundant),
            SchedulerKind::Blest => PacketScheduler::Blest(BlestConfig::default().build()),
            SchedulerKind::Ecf => PacketScheduler::Ecf(EcfConfig::default().build()),
        }
    }
}

/// Calls the same method of whichever scheduler it is.
macro_rules! each {
    ($scheduler:expr, $algorithm:ident => $call:expr) => {
        match $scheduler {
            PacketScheduler::MinRtt($algorithm) => $call,
            PacketScheduler::RoundRobin($algorithm) => $call,
            PacketScheduler::Weighted($algorithm) => $call,
            PacketScheduler::Redundant($algorithm) => $call,
            PacketScheduler::Blest($algorithm) => $call,
            PacketScheduler::Ecf($algorithm) => $call,
            PacketScheduler::Custom($algorithm) => $call,
        }
    };
}

impl Scheduler for PacketScheduler {
    #[inline]
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
            PacketScheduler::RoundRobin(algorithm) => algorithm.fmt(f),
            PacketScheduler::Weighted(algorithm) => algorithm.fmt(f),
            PacketScheduler::Redundant(algorithm) => algorithm.fmt(f),
            PacketScheduler::Blest(algorithm) => algorithm.fmt(f),
            PacketScheduler::Ecf(algorithm) => algorithm.fmt(f),
            PacketScheduler::Custom(_) => f.write_str("Custom"),
        }
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_quantities::Time;

    use super::*;
    use crate::Profile;
    use crate::congestion::testing::Random;
    use crate::scheduling::testing::{pending, subflow};

    fn all() -> impl Iterator<Item = (&'static str, PacketScheduler)> {
        SchedulerKind::ALL.iter().map(|kind| {
            let mut config = Config::profile(Profile::Linux);
            config.scheduler = *kind;
            (kind.name(), PacketScheduler::new(&config))
        })
    }

    #[test]
    fn none_sends_where_there_is_no_room_or_no_subflow() {
        for (name, mut scheduler) in all() {
            for seed in 0..2000 {
                let mut random = Random(seed);
                let mut table: Vec<SubflowState> = (0..random.below(6))
                    .map(|_| subflow(random.below(30), random.below(30), random.below(200)))
                    .collect();
                for state in &mut table {
                    state.usable = random.below(4) > 0;
                    state.in_recovery = random.below(4) == 0;
                    state.queued = random.below(2) * random.below(5000);
                    state.delivery_rate = random.below(3) as f64 * 1e5;
                    state.rttvar = Time::from_millis(random.below(100));
                }
                let mut ask = pending(1 + random.below(1000));
                ask.now = Time::from_millis(10 * seed);
                ask.window_size = 1000 * random.below(500);
                if random.below(3) == 0 {
                    scheduler.on_window_blocked();
                }
                match scheduler.choose(&ask, &table) {
                    Choice::Send(number) => assert!(table[number].can_send(), "{name} {seed}"),
                    Choice::SendOn(set) => {
                        assert!(
                            set.iter().all(|number| table[number].usable),
                            "{name} {seed}"
                        );
                        assert!(
                            set.iter().any(|number| table[number].can_send()),
                            "{name} {seed}"
                        );
                    }
                    Choice::Wait => {
                        // A lone subflow is never left waiting.
                        let usable = table.iter().filter(|state| state.usable).count();
                        let room = table.iter().any(SubflowState::can_send);
                        assert!(usable > 1 || !room, "{name} {seed}");
                    }
                    Choice::WaitUntil(time) => assert!(time > ask.now, "{name} {seed}"),
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
