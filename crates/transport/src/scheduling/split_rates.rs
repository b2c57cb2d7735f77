//! Computation of MPTCP-TSC at the end of each time slot: estimates, and rates for the next one (Park, Joo,
//! Park and Bahk, "Impact of traffic splitting on the delay performance of MPTCP", 2014, section 4.B,
//! equations (12), (13) and (15) to (17)). Amounts are bytes, times seconds, and rates bytes per second; the
//! paper counts segments, so its constants are multiplied by the segment length.

/// Fraction of the backlog over `d_send` that the smoothed estimator adds to the demand.
const BACKLOG_SHARE: f64 = 0.5;
/// Upper limit of a sample of (13) in the smoothed estimator, as a multiple of the acknowledged rate.
const MAX_CAPACITY: f64 = 1.5;

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub length: f64,
    /// Segment length.
    pub segment: f64,
    /// Largest mean queueing time in the send buffer, `d_send`.
    pub send_threshold: f64,
    /// Largest network delay of a subflow, `d_net`.
    pub network_threshold: f64,
    /// Number of hops of each path, `M`.
    pub hops: f64,
    /// Minimum rate of a subflow in use, in segments per second.
    pub floor: f64,
    /// Time constant of the smoothed estimator; `None` selects the printed estimator.
    pub smoothing: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SlotObservation {
    /// Cheaper subflows come first; of equals, those with the lower smoothed round trip.
    pub price: (u8, f64),
    /// Bytes sent on it, and bytes acknowledged, during the slot.
    pub sent: f64,
    pub acked: f64,
    /// Mean of the slot's round-trip samples, if there were any.
    pub rtt: Option<f64>,
    pub rtt_min: f64,
    pub srtt: f64,
    pub window: f64,
    pub slow_start: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Estimates {
    /// Backlog of the send buffer at the end of the last slot.
    pub backlog: f64,
    /// Mean rate of the application so far, without the backlog.
    pub demand: f64,
    /// Capacity of each subflow; `None` before the first slot with observations.
    pub capacity: Vec<Option<f64>>,
}

impl Estimates {
    /// Ends a slot with its observations; returns the rate of each subflow for the next one: zero without
    /// observations.
    pub(super) fn end_slot(
        &mut self,
        slot: &Slot,
        backlog: f64,
        observed: &[Option<SlotObservation>],
    ) -> Vec<f64> {
        let smooth = slot.smoothing.is_some();
        let weight = match slot.smoothing {
            Some(smoothing) => -(-slot.length / smoothing).exp_m1(),
            None => 1.0,
        };
        // (12)
        let sent: f64 = observed.iter().flatten().map(|one| one.sent).sum();
        let arrived = ((backlog - self.backlog + sent) / slot.length).max(0.0);
        self.backlog = backlog;
        self.demand += weight * (arrived - self.demand);
        let mut missing = self.demand + slot.segment / slot.send_threshold; // (16)
        if smooth {
            missing += BACKLOG_SHARE * backlog / slot.send_threshold;
        }
        self.capacity.resize(observed.len(), None);
        for (capacity, observed) in self.capacity.iter_mut().zip(observed) {
            *capacity = observed
                .as_ref()
                .map(|observed| slot.capacity(*capacity, observed, weight));
        }
        let mut order: Vec<usize> = (0..observed.len())
            .filter(|at| observed[*at].is_some())
            .collect();
        let rank = |at: &usize| observed[*at].map(|observed| (observed.price, observed.srtt));
        order.sort_by(|one, other| {
            let order = rank(one).partial_cmp(&rank(other));
            order.unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut rates = vec![0.0; observed.len()];
        for at in order {
            let (Some(observed), Some(capacity)) = (&observed[at], self.capacity[at]) else {
                continue;
            };
            if missing <= 0.0 {
                break;
            }
            let rate = missing.min(slot.most(observed, capacity)); // (17)
            rates[at] = rate.max(slot.floor * slot.segment);
            missing -= rates[at];
        }
        rates
    }
}

impl Slot {
    /// (13), if the RTT has risen above its minimum; otherwise at least the previous value, and the carried
    /// rate.
    fn capacity(&self, last: Option<f64>, observed: &SlotObservation, weight: f64) -> f64 {
        let last = last.unwrap_or(observed.window / observed.srtt);
        let smooth = self.smoothing.is_some();
        let carried = if smooth {
            observed.acked
        } else {
            observed.sent
        };
        let rate = carried / self.length;
        let rise = observed
            .rtt
            .map(|rtt| (rtt, rtt - observed.rtt_min))
            .filter(|(_, rise)| *rise > 0.0 && (rate > 0.0 || !smooth));
        let Some((rtt, rise)) = rise else {
            return last.max(rate);
        };
        let sample = (rate * rtt + (self.hops - 1.0) * self.segment) / rise;
        let sample = match smooth {
            // The equation assumes a full window, and overestimates one that the application does not fill.
            true => sample.min(MAX_CAPACITY * rate),
            false => sample,
        };
        last + weight * (sample - last)
    }

    /// Limit by the window and, except in slow start, by (15).
    fn most(&self, observed: &SlotObservation, capacity: f64) -> f64 {
        let allowed = observed.window / observed.srtt;
        if observed.slow_start {
            return allowed;
        }
        let queued = (self.hops - 1.0) * self.segment + capacity * observed.rtt_min;
        allowed.min(capacity - queued / (2.0 * self.network_threshold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line per subflow and slot, written by the tests of the model in Python.
    const REFERENCE: &str = include_str!("../../../../tests/reference/park-2014-tsc.csv");

    struct Line<'a> {
        heads: &'a [&'a str],
        numbers: Vec<f64>,
    }

    impl Line<'_> {
        fn number(&self, head: &str) -> f64 {
            let at = self.heads.iter().position(|one| *one == head);
            self.numbers[at.expect(head)]
        }
    }

    #[test]
    fn estimates_and_rates_equal_python_model() {
        let mut rows = REFERENCE.lines();
        let heads: Vec<&str> = rows.next().unwrap().split(',').collect();
        let lines: Vec<Line> = rows
            .map(|row| Line {
                heads: &heads,
                numbers: row
                    .split(',')
                    .map(|one| one.parse().unwrap_or(f64::NAN))
                    .collect(),
            })
            .collect();
        let (mut estimates, mut slots) = (Estimates::default(), 0);
        let same = |one: &Line, other: &Line| {
            ["world", "slot"].map(|head| one.number(head))
                == ["world", "slot"].map(|head| other.number(head))
        };
        for lines in lines.chunk_by(same) {
            let first = &lines[0];
            if first.number("slot") == 0.0 {
                estimates = Estimates::default();
            }
            let smoothing = first.number("smoothing");
            let slot = Slot {
                length: first.number("length"),
                segment: 1.0,
                send_threshold: first.number("send_threshold"),
                network_threshold: first.number("network_threshold"),
                hops: first.number("hops"),
                floor: first.number("floor"),
                smoothing: (!smoothing.is_nan()).then_some(smoothing),
            };
            let observed: Vec<_> = (lines.iter())
                .map(|line| {
                    let rtt = line.number("rtt");
                    Some(SlotObservation {
                        price: (0, line.number("cost")),
                        sent: line.number("sent"),
                        acked: line.number("acked"),
                        rtt: (!rtt.is_nan()).then_some(rtt),
                        rtt_min: line.number("rtt_min"),
                        srtt: line.number("srtt"),
                        window: line.number("window"),
                        slow_start: line.number("slow_start") > 0.0,
                    })
                })
                .collect();
            let rates = estimates.end_slot(&slot, first.number("backlog"), &observed);
            let expected: Vec<f64> = lines.iter().map(|line| line.number("rate")).collect();
            // The rate of the last subflow is a difference of large sums.
            let error = 1e-12 * expected.iter().sum::<f64>().max(first.number("demand"));
            for (at, line) in lines.iter().enumerate() {
                assert!((rates[at] - expected[at]).abs() <= error, "{at}: {rates:?}");
                let capacity = line.number("capacity");
                let found = estimates.capacity[at].unwrap();
                assert!((found - capacity).abs() <= 1e-12 * capacity, "{found}");
            }
            let demand = first.number("demand");
            assert!((estimates.demand - demand).abs() <= error, "{demand}");
            slots += 1;
        }
        assert_eq!(slots, 500);
    }

    #[test]
    fn segment_length_scales_all_results() {
        let slot = |segment: f64| Slot {
            length: 0.01,
            segment,
            send_threshold: 0.1,
            network_threshold: 0.05,
            hops: 3.0,
            floor: 20.0,
            smoothing: Some(0.2),
        };
        let observed = |segment: f64| {
            [(1.0, 4.0), (10.0, 2.0)].map(|(cost, sent)| {
                Some(SlotObservation {
                    price: (0, cost),
                    sent: sent * segment,
                    acked: sent * segment,
                    rtt: Some(0.03),
                    rtt_min: 0.02,
                    srtt: 0.03,
                    window: 30.0 * segment,
                    slow_start: false,
                })
            })
        };
        let rates = |segment: f64| {
            Estimates::default().end_slot(&slot(segment), 90.0 * segment, &observed(segment))
        };
        let (segments, bytes) = (rates(1.0), rates(1024.0));
        assert!(segments.iter().all(|rate| *rate > 0.0), "{segments:?}");
        for (one, other) in segments.iter().zip(&bytes) {
            assert!((1024.0 * one - other).abs() < 1e-9 * other, "{one} {other}");
        }
    }
}
