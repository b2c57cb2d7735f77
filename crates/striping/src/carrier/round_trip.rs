//! The round trip of a carrier, from a frame's departure to its acknowledgement.
//!
//! It contains what waits in the socket and in the link's queue. The least of the last
//! seconds contains neither, if the carrier was not full all the time.

use ropewalk_quantities::Time;

/// How long a minimum is believed.
const MIN_WINDOW: Time = Time::from_secs(10);

/// Smoothed as in RFC 6298, and the least of a window.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrip {
    smoothed: Option<(Time, Time)>,
    min: Option<(Time, Time)>,
}

impl RoundTrip {
    /// With the handshake's round trip, if it is known.
    pub(crate) fn new(now: Time, handshake: Option<Time>) -> RoundTrip {
        let mut round_trip = RoundTrip::default();
        if let Some(rtt) = handshake {
            round_trip.sample(now, rtt);
        }
        round_trip
    }

    pub(crate) fn sample(&mut self, now: Time, rtt: Time) {
        let rtt = rtt.max(Time::from_nanos(1));
        self.smoothed = Some(match self.smoothed {
            None => (rtt, rtt / 2),
            Some((srtt, rttvar)) => {
                let error = rtt.saturating_sub(srtt).max(srtt.saturating_sub(rtt));
                (srtt - srtt / 8 + rtt / 8, rttvar - rttvar / 4 + error / 4)
            }
        });
        let keep = |&(min, at): &(Time, Time)| min < rtt && now.saturating_sub(at) <= MIN_WINDOW;
        if !self.min.as_ref().is_some_and(keep) {
            self.min = Some((rtt, now));
        }
    }

    /// Smoothed; `None` before the first sample.
    pub(crate) fn smoothed(&self) -> Option<Time> {
        self.smoothed.map(|(srtt, _)| srtt)
    }

    /// Mean deviation.
    pub(crate) fn deviation(&self) -> Time {
        self.smoothed.map_or(Time::ZERO, |(_, rttvar)| rttvar)
    }

    /// The least of the last ten seconds.
    pub(crate) fn min(&self) -> Option<Time> {
        self.min.map(|(min, _)| min)
    }

    /// The minimum is about to be forgotten: without a pause it would come back too large.
    pub(crate) fn min_is_old(&self, now: Time) -> bool {
        self.min
            .is_some_and(|(_, at)| now.saturating_sub(at) > MIN_WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn smoothed_as_rfc_6298_computes_it() {
        let mut round_trip = RoundTrip::new(Time::ZERO, Some(MS(100)));
        assert_eq!(round_trip.deviation(), MS(50));
        round_trip.sample(MS(180), MS(180));
        assert_eq!(round_trip.smoothed(), Some(MS(110)));
        assert_eq!(round_trip.deviation(), Time::from_micros(57_500));
        assert_eq!(round_trip.min(), Some(MS(100)));
    }

    #[test]
    fn the_minimum_is_forgotten_after_ten_seconds() {
        let mut round_trip = RoundTrip::new(Time::ZERO, None);
        round_trip.sample(MS(0), MS(20));
        round_trip.sample(MS(5_000), MS(30));
        assert!(!round_trip.min_is_old(MS(10_000)));
        assert!(round_trip.min_is_old(MS(10_001)));
        assert_eq!(round_trip.min(), Some(MS(20)));
        round_trip.sample(MS(10_001), MS(30));
        assert_eq!(round_trip.min(), Some(MS(30)));
        round_trip.sample(MS(10_002), MS(25));
        assert_eq!(round_trip.min(), Some(MS(25)));
    }
}
