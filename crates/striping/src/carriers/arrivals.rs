//! Arrival times and rates of all carriers, as the scheduler compares them.

use ropewalk_transport::scheduling::earliest_arrival::{Arrival, gap_below_many};

/// Indexed by carrier, times and rates in separate arrays: all are scanned for each scheduling decision.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    arrive_in: Vec<f64>,
    /// Zero for those that may not send.
    rates: Vec<f64>,
    /// The last result: within so many seconds the faster carriers deliver at least so many bytes. Valid
    /// until an entry changes.
    last: Option<(f64, u64)>,
}

impl Arrivals {
    pub(super) fn of(arrivals: impl Iterator<Item = Arrival>) -> Arrivals {
        let (arrive_in, rates) = arrivals
            .map(|arrival| (arrival.arrives_in, arrival.rate))
            .unzip();
        Arrivals {
            arrive_in,
            rates,
            last: None,
        }
    }

    pub(super) fn set(&mut self, at: usize, arrival: Arrival) {
        if (self.arrive_in[at], self.rates[at]) != (arrival.arrives_in, arrival.rate) {
            self.arrive_in[at] = arrival.arrives_in;
            self.rates[at] = arrival.rate;
            self.last = None;
        }
    }

    /// Bytes that the other carriers deliver before a frame of this one would arrive, if that is less than
    /// `enough`. A carrier that is not faster, such as this one itself, delivers nothing until then.
    pub(super) fn gap_below(&mut self, at: usize, enough: u64) -> Option<u64> {
        self.gap_until(self.arrive_in[at], enough)
    }

    /// The same for a frame that would arrive in so many seconds.
    pub(super) fn gap_until(&mut self, own: f64, enough: u64) -> Option<u64> {
        // A carrier that arrives later has more carriers ahead of it, and each delivers more until then.
        if self
            .last
            .is_some_and(|(seconds, bytes)| seconds <= own && bytes >= enough)
        {
            return None;
        }
        let gap = gap_below_many(own, &self.arrive_in, &self.rates, enough);
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
                (any::<prop::sample::Index>(), 0.0..0.5, 0..4_u8, 0..3_000_000_u64), 1..60,
            ),
        ) {
            let arrivals: Vec<Arrival> = arrivals.into_iter().map(|(arrives_in, rate)| Arrival { arrives_in, rate }).collect();
            let mut kept = Arrivals::of(arrivals.iter().copied());
            let mut arrivals = arrivals;
            for (at, arrives_in, change, enough) in steps {
                let at = at.index(arrivals.len());
                if change == 0 {
                    arrivals[at].arrives_in = arrives_in;
                    kept.set(at, arrivals[at]);
                }
                let found = gap_below(arrivals[at].arrives_in, arrivals.iter().copied(), enough);
                prop_assert_eq!(kept.gap_below(at, enough), found);
            }
        }
    }
}
