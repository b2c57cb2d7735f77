//! Earliest arrival: each carrier sends the data that it would deliver in order.
//!
//! A slower carrier sends data ahead of the front of the stream. The gap that it leaves is the amount that
//! the others can deliver before its own data would arrive. If there are not enough data for the gap, the
//! carrier stays idle, since it would only cause delay. OTIAS (Yang et al., INFOCOM 2014) and STMS (Shi et
//! al., USENIX ATC 2018) leave gaps of the size of the faster path's window. ECF (Lim et al., CoNEXT 2017)
//! waits for the faster path.
//!
//! It skips data, which a [`Choice`](super::Choice) cannot express, and considers the backlog of several
//! streams. So the aggregation implements it with the arithmetic here, and `mptcp` does not support it. In a
//! tunnel, whose packets are no stream, each packet uses the link that would deliver it first.

use super::Settings;
use super::min_rtt::MinRtt;
use crate::algorithm::algorithm;

algorithm! {
    /// Each carrier sends the data that it would deliver in order. A slow carrier skips ahead in the stream,
    /// and stays idle if the others would deliver all data sooner.
    pub struct EarliestArrivalConfig: "earliest-arrival", "after Yang et al., INFOCOM 2014, and Shi et al., USENIX ATC 2018", [ManyStreams] {}
}

impl EarliestArrivalConfig {
    /// Creates the scheduler of one connection of the aggregation, which has one subflow.
    pub fn build(self, _settings: &Settings) -> MinRtt {
        MinRtt
    }
}

/// Arrival time and rate of a carrier.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Seconds until a frame sent now would arrive at the peer.
    pub arrives_in: f64,
    /// Bytes per second.
    pub rate: f64,
}

impl Arrival {
    /// Bytes delivered up to a time, of frames sent from now on.
    #[inline]
    pub fn delivers(self, until: f64) -> f64 {
        let left = until - self.arrives_in;
        self.rate * if left > 0.0 { left } else { 0.0 }
    }
}

/// Bytes that the other carriers deliver before a frame of this one would arrive, if less than `enough`; they
/// are added up until `enough` is reached.
#[inline]
pub fn gap_below(
    own_arrives_in: f64,
    others: impl Iterator<Item = Arrival>,
    enough: u64,
) -> Option<u64> {
    // All terms are positive, so a partial sum that reaches `enough` decides, with any rounding.
    let (mut sum, enough) = (0.0, enough as f64);
    for arrival in others {
        sum += arrival.delivers(own_arrives_in);
        if sum >= enough {
            return None;
        }
    }
    (enough > 0.0).then_some(sum as u64)
}

/// One stream's share of the gap, if the others have `pending` bytes to send. Each stream gets an equal
/// share; the remainder of streams with less data is split among the others.
pub fn share(gap: u64, streams: usize, pending: impl Iterator<Item = u64> + Clone) -> u64 {
    if streams <= 1 {
        return gap;
    }
    let mut left = gap;
    let mut sharing = streams as u64;
    let mut level = 0;
    // Each pass finds the streams that the previous level satisfies; two passes find nearly all.
    for _ in 0..3 {
        let next = left / sharing;
        if next <= level {
            break;
        }
        level = next;
        let small = pending.clone().filter(|bytes| *bytes < level);
        let (count, bytes) = small.fold((0, 0), |(count, sum), bytes| (count + 1, sum + bytes));
        left = gap - bytes.min(gap);
        sharing = (streams as u64).saturating_sub(count).max(1);
    }
    level.max(left / sharing)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn gap_below_returns_gap_if_smaller(
            own in 0.0..0.5,
            others in proptest::collection::vec((0.0..0.5, 1.0..1e7), 0..30),
            asked in 0..100_000_u64,
        ) {
            let arrivals = others.iter().map(|&(arrives_in, rate)| Arrival { arrives_in, rate });
            let gap = gap_below(own, arrivals.clone(), u64::MAX).expect("not as large");
            for enough in [0, asked, gap, gap + 1] {
                let result = gap_below(own, arrivals.clone(), enough);
                prop_assert_eq!(result, (gap < enough).then_some(gap));
            }
        }
    }

    #[test]
    fn gap_is_data_of_faster_carriers() {
        let fast = Arrival {
            arrives_in: 0.010,
            rate: 2.5e6,
        };
        let slower = Arrival {
            arrives_in: 0.120,
            rate: 1e6,
        };
        let gap = |own| gap_below(own, [fast, slower].into_iter(), u64::MAX);
        assert_eq!(gap(0.110), Some(250_000));
        assert_eq!(gap(0.010), Some(0));
    }

    #[test]
    fn share_splits_remainder_among_larger_streams() {
        let all = |pending: &'static [u64]| share(900, pending.len(), pending.iter().copied());
        assert_eq!(all(&[1000, 1000, 1000]), 300);
        assert_eq!(all(&[1000, 100, 1000]), 400);
        assert_eq!(all(&[5000]), 900);
        assert_eq!(all(&[100, 5000]), 800);
        assert_eq!(share(900, 0, std::iter::empty()), 900);
    }
}
