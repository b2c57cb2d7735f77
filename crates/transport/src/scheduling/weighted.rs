//! Smooth weighted round robin (as nginx distributes requests): for each segment every subflow with space
//! earns its weight, and the one with the highest credit sends and pays the sum of the earnings. The shares
//! are exact over a cycle and evenly spread within it.
//!
//! The weight is the measured delivery rate, or cwnd / srtt before it is known. A subflow with a small share
//! has a low measured delivery rate: its weight follows its past share until the others run out of space.

use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// Shares in proportion to the subflows' measured delivery rates.
    pub struct WeightedConfig: "weighted", "smooth weighted round robin, as nginx spreads requests", [Blind] {}
}

impl WeightedConfig {
    /// Creates the scheduler of one connection.
    pub fn build(self, _settings: &Settings) -> Weighted {
        Weighted::default()
    }
}

/// Smooth weighted round robin, used by all weighted schedulers.
#[derive(Clone, Debug, Default)]
pub struct WeightedCredits {
    credit: Vec<f64>,
}

impl WeightedCredits {
    /// Adds each candidate's weight to its credit; chooses the one with the highest credit, of equals the
    /// first, which pays the sum. Returns the choice and that sum.
    #[inline]
    pub fn next(
        &mut self,
        count: usize,
        weights: impl Iterator<Item = (usize, f64)>,
    ) -> Option<(usize, f64)> {
        if self.credit.len() < count {
            self.credit.resize(count, 0.0);
        }
        let mut total = 0.0;
        let mut richest: Option<usize> = None;
        for (number, weight) in weights {
            total += weight;
            self.credit[number] += weight;
            if richest.is_none_or(|best| self.credit[number] > self.credit[best]) {
                richest = Some(number);
            }
        }
        let chosen = richest?;
        self.credit[chosen] -= total;
        Some((chosen, total))
    }

    /// Limits the credit or debt of one.
    #[inline]
    pub fn bound(&mut self, number: usize, most: f64) {
        self.credit[number] = self.credit[number].clamp(-most, most);
    }
}

/// State of the scheduler on one connection.
#[derive(Clone, Debug, Default)]
pub struct Weighted {
    shares: WeightedCredits,
}

impl Scheduler for Weighted {
    #[inline]
    fn choose(&mut self, _pending: &Pending, subflows: &[SubflowState]) -> Choice {
        // An unknown subflow counts as the slowest known.
        let unknown = (subflows.iter())
            .filter(|state| state.can_send())
            .filter_map(SubflowState::rate)
            .reduce(f64::min)
            .unwrap_or(1.0);
        let weights = (subflows.iter().enumerate())
            .filter(|(_, state)| state.can_send())
            .map(|(number, state)| (number, state.rate().unwrap_or(unknown)));
        let Some((number, total)) = self.shares.next(subflows.len(), weights) else {
            return Choice::Wait;
        };
        // Since weights change, credit is limited to the earnings of a few segments.
        self.shares.bound(number, total);
        Choice::Send(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::testing::{MSS, pending, subflow};

    fn shares(scheduler: &mut Weighted, table: &[SubflowState], segments: usize) -> Vec<usize> {
        let mut shares = vec![0; table.len()];
        for _ in 0..segments {
            match scheduler.choose(&pending(100), table) {
                Choice::Send(number) => shares[number] += 1,
                other => panic!("{other:?}"),
            }
        }
        shares
    }

    #[test]
    fn shares_are_those_of_the_rates() {
        let mut table = [
            subflow(100, 0, 20),
            subflow(100, 0, 20),
            subflow(100, 0, 20),
        ];
        table[0].delivery_rate = 5e6;
        table[1].delivery_rate = 2e6;
        table[2].delivery_rate = 1e6;
        let mut scheduler = Weighted::default();
        assert_eq!(shares(&mut scheduler, &table, 8), [5, 2, 1]);
        assert_eq!(shares(&mut scheduler, &table, 800), [500, 200, 100]);
        table[0].in_flight = 100 * MSS;
        assert_eq!(shares(&mut scheduler, &table, 300), [0, 200, 100]);
    }

    #[test]
    fn unmeasured_subflows_are_weighted_by_window() {
        let mut table = [subflow(10, 0, 10), subflow(20, 0, 80), subflow(10, 0, 0)];
        assert_eq!(shares(&mut Weighted::default(), &table, 60), [40, 10, 10]);
        table[0].srtt = table[2].srtt;
        table[1].srtt = table[2].srtt;
        assert_eq!(shares(&mut Weighted::default(), &table, 60), [20, 20, 20]);
    }
}
