//! Arrival times and rates of all carriers, as the scheduler compares them.

use ropewalk_transport::scheduling::earliest_arrival::{Arrival, delivered_by_many};

use super::deliveries::{Changes, Deliveries};
use super::outrun::Edge;

/// Indexed by carrier, times and rates in separate arrays: all may be scanned for a scheduling decision.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    arrive_in: Vec<f64>,
    /// Zero for those that may not send.
    rates: Vec<f64>,
    /// What all deliver before a frame of each one would arrive, or of the edges of groups.
    deliveries: Vec<Deliveries>,
    until: [Deliveries; Edge::COUNT],
    changes: Changes,
    /// The last result: within so many seconds the faster carriers deliver at least so many bytes. Valid
    /// until an entry changes.
    last: Option<(f64, u64)>,
}

impl Arrivals {
    pub(super) fn of(arrivals: impl Iterator<Item = Arrival>) -> Arrivals {
        let (arrive_in, rates): (Vec<f64>, Vec<f64>) = arrivals
            .map(|arrival| (arrival.arrives_in, arrival.rate))
            .unzip();
        Arrivals {
            deliveries: vec![Deliveries::UNKNOWN; rates.len()],
            until: [Deliveries::UNKNOWN; Edge::COUNT],
            changes: Changes::default(),
            arrive_in,
            rates,
            last: None,
        }
    }

    pub(super) fn set(&mut self, at: usize, arrival: Arrival) {
        let before = Arrival {
            arrives_in: self.arrive_in[at],
            rate: self.rates[at],
        };
        if (before.arrives_in, before.rate) != (arrival.arrives_in, arrival.rate) {
            self.changes.add(before, arrival);
            self.arrive_in[at] = arrival.arrives_in;
            self.rates[at] = arrival.rate;
            self.last = None;
        }
    }

    /// Bytes that the other carriers deliver before a frame of this one would arrive, if that is less than
    /// `enough`. A carrier that is not faster, such as this one itself, delivers nothing until then.
    pub(super) fn gap_below(&mut self, at: usize, enough: u64) -> Option<u64> {
        let mut deliveries = self.deliveries[at];
        let gap = self.gap(self.arrive_in[at], enough, &mut deliveries);
        self.deliveries[at] = deliveries;
        gap
    }

    /// The same for a frame of an edge of a group, which would arrive in so many seconds.
    pub(super) fn gap_until(&mut self, edge: Edge, own: f64, enough: u64) -> Option<u64> {
        let mut deliveries = self.until[edge.number()];
        let gap = self.gap(own, enough, &mut deliveries);
        self.until[edge.number()] = deliveries;
        gap
    }

    #[inline]
    fn gap(&mut self, own: f64, enough: u64, deliveries: &mut Deliveries) -> Option<u64> {
        // A carrier that arrives later has more carriers ahead of it, and each delivers more until then.
        if self
            .last
            .is_some_and(|(seconds, bytes)| seconds <= own && bytes >= enough)
        {
            return None;
        }
        let all = || delivered_by_many(own, &self.arrive_in, &self.rates);
        let gap = deliveries.below(own, enough as f64, &self.changes, all);
        let brought = gap.unwrap_or(enough);
        if gap.is_none() || self.last.is_none_or(|(_, bytes)| bytes < brought) {
            self.last = Some((own, brought));
        }
        gap
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ropewalk_transport::scheduling::earliest_arrival::gap_below;

    use super::*;

    proptest! {
        #[test]
        fn what_is_kept_is_what_a_look_at_all_finds(
            arrivals in proptest::collection::vec((0.0..0.5, 0.0..1e7), 1..30),
            steps in proptest::collection::vec(
                (any::<[prop::sample::Index; 2]>(), (0.0..0.5, 0.0..1e7), 0..4_u8, 0..3_000_000_u64), 1..150,
            ),
        ) {
            let new = |(arrives_in, rate)| Arrival { arrives_in, rate };
            let mut arrivals: Vec<Arrival> = arrivals.into_iter().map(new).collect();
            let mut kept = Arrivals::of(arrivals.iter().copied());
            let edge = Edge { group: 0, is_slowest: false };
            let same = Edge { is_slowest: true, ..edge };
            for ([asked, other], arrival, change, enough) in steps {
                if change > 0 {
                    let other = other.index(arrivals.len());
                    arrivals[other] = new(arrival);
                    kept.set(other, arrivals[other]);
                }
                let at = asked.index(arrivals.len());
                let own = arrivals[at].arrives_in;
                let gap = gap_below(own, arrivals.iter().copied(), u64::MAX).expect("it is less");
                for enough in [enough, gap + 1, gap] {
                    let found = (gap < enough).then_some(gap);
                    prop_assert_eq!(kept.gap_below(at, enough), found);
                    prop_assert_eq!(kept.gap_until(edge, own, enough), found);
                    prop_assert_eq!(kept.gap_until(same, 0.2, enough), gap_below(0.2, arrivals.iter().copied(), enough));
                }
            }
        }
    }
}
