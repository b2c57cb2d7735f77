//! Round robin over the subflows with space, segment by segment.

use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Subflows in turn, segment by segment; those without space in their congestion windows are skipped.
    pub struct RoundRobinConfig: "round-robin", "song-2018", [Blind] {}
}

impl RoundRobinConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> RoundRobin {
        RoundRobin::default()
    }
}

/// Round robin position, used by all round robins.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobinCursor {
    next: usize,
}

impl RoundRobinCursor {
    /// Position after the use of `last`.
    pub fn after(last: usize) -> RoundRobinCursor {
        RoundRobinCursor { next: last + 1 }
    }

    /// Returns the next one among `count` that `passes` accepts.
    #[inline]
    pub fn next(&mut self, count: usize, passes: impl Fn(usize) -> bool) -> Option<usize> {
        let start = if self.next < count { self.next } else { 0 };
        let mut turn = (start..count).chain(0..start);
        let chosen = turn.find(|number| passes(*number))?;
        self.next = chosen + 1;
        Some(chosen)
    }
}

/// State of the scheduler on one connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundRobin {
    turns: RoundRobinCursor,
}

impl Scheduler for RoundRobin {
    #[inline]
    fn choose(&mut self, _pending: &Pending, subflows: &[SubflowState]) -> Choice {
        let passes = |number: usize| subflows[number].can_send();
        let chosen = self.turns.next(subflows.len(), passes);
        chosen.map_or(Choice::Wait, Choice::Send)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, pending, subflow};

    #[test]
    fn alternates_over_subflows_with_space() {
        let mut table = [subflow(10, 0, 50), subflow(10, 0, 20), subflow(10, 0, 30)];
        let mut scheduler = RoundRobin::default();
        let mut sent = Vec::new();
        for _ in 0..5 {
            sent.push(scheduler.choose(&pending(100), &table));
        }
        table[2].in_flight = 10 * MSS;
        for _ in 0..3 {
            sent.push(scheduler.choose(&pending(100), &table));
        }
        assert_eq!(sent, [0, 1, 2, 0, 1, 0, 1, 0].map(Choice::Send));
        table[0].usable = false;
        table[1].usable = false;
        assert_eq!(scheduler.choose(&pending(100), &table), Choice::Wait);
    }
}
