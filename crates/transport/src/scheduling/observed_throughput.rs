//! Scheduler by the throughput observed at the last visit (elahi-2011, algorithm 1).
//!
//! A visit offers as many segments as the subflow took at the last one (its throughput per round once its
//! buffer is full), and ends when it takes no more. A subflow that took none is skipped for some rounds (the
//! paper does not specify their number), and then offered one segment. In algorithm 1 the offer never
//! increases; here a subflow that took everything is offered one more next time, up to its capacity.

use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

const SKIPPED_ROUNDS: u32 = 8;

algorithm! {
    /// Visits subflows in turn, each with as many segments as it took at its last visit.
    pub struct ObservedThroughputConfig: "observed-throughput", "elahi-2011, algorithm 1", [] {}
}

impl ObservedThroughputConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> ObservedThroughput {
        ObservedThroughput::default()
    }
}

/// State of the scheduler on one connection.
#[derive(Clone, Debug, Default)]
pub struct ObservedThroughput {
    observed: Vec<Observed>,
    /// The visited subflow, and the numbers of offered and taken segments.
    at: usize,
    offered: u64,
    taken: u64,
}

#[derive(Clone, Copy, Debug)]
struct Observed {
    throughput: u64,
    passed_over: u32,
}

impl ObservedThroughput {
    #[inline]
    fn end_visit(&mut self, subflows: &[SubflowState]) {
        if self.offered > 0 {
            let state = &subflows[self.at];
            let most = (state.cwnd / state.mss.max(1)).max(1);
            self.observed[self.at].throughput = if self.taken == self.offered {
                (self.offered + 1).min(most)
            } else {
                self.taken
            };
        }
    }

    #[inline]
    fn begin_visit(&mut self, subflow: usize) {
        self.at = subflow;
        self.taken = 0;
        let observed = &mut self.observed[subflow];
        self.offered = observed.throughput;
        if self.offered == 0 {
            observed.passed_over += 1;
            if observed.passed_over > SKIPPED_ROUNDS {
                observed.passed_over = 0;
                self.offered = 1;
            }
        }
    }
}

impl Scheduler for ObservedThroughput {
    #[inline]
    fn choose(&mut self, _pending: &Pending, subflows: &[SubflowState]) -> Choice {
        if !subflows.iter().any(SubflowState::can_send) {
            return Choice::Wait;
        }
        if self.observed.len() != subflows.len() {
            let fresh = Observed {
                throughput: 1,
                passed_over: 0,
            };
            self.observed.resize(subflows.len(), fresh);
            self.begin_visit(self.at % subflows.len());
        }
        loop {
            if self.taken < self.offered && subflows[self.at].can_send() {
                self.taken += 1;
                return Choice::Send(self.at);
            }
            self.end_visit(subflows);
            self.begin_visit((self.at + 1) % subflows.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, pending, subflow};

    fn next(scheduler: &mut ObservedThroughput, table: &[SubflowState]) -> usize {
        match scheduler.choose(&pending(100), table) {
            Choice::Send(number) => number,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn offers_one_more_after_each_visit_that_took_all() {
        let table = [subflow(50, 0, 20), subflow(3, 0, 20)];
        let mut scheduler = ObservedThroughput::default();
        let turns: Vec<usize> = (0..20).map(|_| next(&mut scheduler, &table)).collect();
        // 1 and 1, 2 and 2, 3 and 3; then 4, and 3 again, the capacity of the second.
        assert_eq!(turns[..12], [0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 1]);
        assert_eq!(turns[12..], [0, 0, 0, 0, 1, 1, 1, 0]);
    }

    #[test]
    fn shares_follow_drain_rates_of_full_buffers() {
        // Buffers of 10; in each step the first sends 4 segments, the second 1, and 5 are written.
        let mut table = [subflow(10, 10, 20), subflow(10, 10, 20)];
        let mut scheduler = ObservedThroughput::default();
        let mut sent = [0; 2];
        for _ in 0..200 {
            table[0].in_flight -= 4 * MSS;
            table[1].in_flight -= MSS;
            for _ in 0..5 {
                let number = next(&mut scheduler, &table);
                table[number].in_flight += MSS;
                sent[number] += 1;
            }
        }
        assert_eq!(sent, [800, 200]);
        assert_eq!(scheduler.choose(&pending(1), &table), Choice::Wait);
    }

    #[test]
    fn refusing_subflow_is_retried_with_one_segment() {
        let mut table = [subflow(2, 0, 20), subflow(2, 2, 20)];
        let mut scheduler = ObservedThroughput::default();
        assert_eq!([(); 3].map(|()| next(&mut scheduler, &table)), [0, 0, 0]);
        table[1].in_flight = 0;
        let turns: Vec<usize> = (0..40).map(|_| next(&mut scheduler, &table)).collect();
        let first = turns.iter().position(|turn| *turn == 1).unwrap();
        assert!(first >= SKIPPED_ROUNDS as usize, "{turns:?}");
        assert_eq!(turns[first..first + 6], [1, 0, 0, 1, 1, 0]);
    }
}
