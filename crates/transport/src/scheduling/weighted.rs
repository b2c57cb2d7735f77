//! In proportion to the delivery rate.
//!
//! Smooth weighted round robin (as nginx distributes requests): for each segment every subflow with room
//! earns its weight, and the one with the highest credit sends and pays what all earned. The shares are exact
//! over a cycle and evenly spread within it. The weight is the measured delivery rate, or cwnd / srtt before
//! it is known.
//!
//! A subflow that gets little is also measured to deliver little: its weight follows its past share until the
//! others run out of room.

use super::{Choice, Pending, Scheduler, Settings};
use crate::SubflowState;
use crate::algorithm::algorithm;

algorithm! {
    /// In proportion to the measured rate.
    pub struct WeightedConfig: "weighted", "smooth weighted round robin, as nginx spreads requests", [Blind] {}
}

impl WeightedConfig {
    /// For one connection.
    pub fn build(self, _settings: &Settings) -> Weighted {
        Weighted::default()
    }
}

/// Smooth weighted round robin, shared by all weighted schedulers.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    /// Credit of each, in the unit of the weights.
    credit: Vec<f64>,
}

impl Shares {
    /// All that are named earn their weight; the one with the highest credit, and of equals the first, is
    /// chosen and pays what all earned. Returns it, and that sum.
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

    /// Bounds the credit or debt of one.
    #[inline]
    pub fn bound(&mut self, number: usize, most: f64) {
        self.credit[number] = self.credit[number].clamp(-most, most);
    }
}

/// Shares in proportion to measured rates.
#[derive(Clone, Debug, Default)]
pub struct Weighted {
    shares: Shares,
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
        // Since weights change, credit is bounded by what a few segments earn.
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
        // The rest share alike when one has no room.
        table[0].in_flight = 100 * MSS;
        assert_eq!(shares(&mut scheduler, &table, 300), [0, 200, 100]);
    }

    #[test]
    fn unmeasured_subflows_count_by_their_window() {
        let mut table = [subflow(10, 0, 10), subflow(20, 0, 80), subflow(10, 0, 0)];
        // 1000 and 250 segments a second; of the third nothing is known.
        assert_eq!(shares(&mut Weighted::default(), &table, 60), [40, 10, 10]);
        table[0].srtt = table[2].srtt;
        table[1].srtt = table[2].srtt;
        assert_eq!(shares(&mut Weighted::default(), &table, 60), [20, 20, 20]);
    }
}
