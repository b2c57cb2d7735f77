//! Round trip of a carrier, from sending a frame to its acknowledgement.
//!
//! It includes the time in the socket and in the link's queue; the minimum includes neither. The minimum is
//! valid for some seconds. Then the carrier is drained for a moment, and the least sample taken meanwhile
//! replaces it (ProbeRTT, draft-cardwell-iccrg-bbr-congestion-control-02, section 4.3.4).

use ropewalk_quantities::Time;

const MIN_WINDOW: Time = Time::from_secs(10);

#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrip {
    smoothed: Option<(Time, Time)>,
    min: Option<(Time, Time)>,
    probe: Option<MinRttProbe>,
    pub(crate) latest: Time,
    pub(crate) samples: u32,
    pub(crate) sum: Time,
}

/// A probe of the minimum: the carrier is being drained.
#[derive(Clone, Copy, Debug)]
struct MinRttProbe {
    until: Time,
    least: Time,
}

impl RoundTrip {
    /// Begins with the round trip of the handshake, if known.
    pub(crate) fn new(now: Time, handshake: Option<Time>) -> RoundTrip {
        let mut round_trip = RoundTrip::default();
        if let Some(rtt) = handshake {
            round_trip.sample(now, rtt, false);
        }
        round_trip
    }

    /// Adds a sample. An expired minimum is measured again, if the carrier may be drained.
    pub(crate) fn sample(&mut self, now: Time, rtt: Time, may_drain: bool) {
        let rtt = rtt.max(Time::from_nanos(1));
        self.latest = rtt;
        self.samples = self.samples.wrapping_add(1);
        self.sum += rtt;
        self.smoothed = Some(match self.smoothed {
            None => (rtt, rtt / 2),
            Some((srtt, rttvar)) => {
                let error = rtt.saturating_sub(srtt).max(srtt.saturating_sub(rtt));
                (srtt - srtt / 8 + rtt / 8, rttvar - rttvar / 4 + error / 4)
            }
        });
        if self.min.is_none_or(|(min, _)| rtt <= min) {
            self.min = Some((rtt, now));
        }
        self.probe = match (self.probe, self.min) {
            (None, Some((min, at))) if may_drain && now.saturating_sub(at) > MIN_WINDOW => {
                let (srtt, _) = self.smoothed.unwrap_or_default();
                let queue = srtt.saturating_sub(min);
                Some(MinRttProbe {
                    until: now + min * 2 + queue,
                    least: Time::MAX,
                })
            }
            (Some(probe), _) => {
                let least = probe.least.min(rtt);
                if now >= probe.until {
                    self.min = Some((least, now));
                    None
                } else {
                    Some(MinRttProbe { least, ..probe })
                }
            }
            (None, _) => None,
        };
    }

    pub(crate) fn smoothed(&self) -> Option<Time> {
        self.smoothed.map(|(srtt, _)| srtt)
    }

    pub(crate) fn deviation(&self) -> Time {
        self.smoothed.map_or(Time::ZERO, |(_, rttvar)| rttvar)
    }

    pub(crate) fn min(&self) -> Option<Time> {
        self.min.map(|(min, _)| min)
    }

    /// Whether the minimum is being measured again, for which the queue must be drained.
    pub(crate) fn is_probed(&self) -> bool {
        self.probe.is_some()
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
        round_trip.sample(MS(180), MS(180), true);
        assert_eq!(round_trip.smoothed(), Some(MS(110)));
        assert_eq!(round_trip.deviation(), Time::from_micros(57_500));
        assert_eq!(round_trip.min(), Some(MS(100)));
    }

    #[test]
    fn minimum_is_measured_again_after_ten_seconds() {
        let mut round_trip = RoundTrip::new(Time::ZERO, None);
        round_trip.sample(MS(0), MS(20), true);
        round_trip.sample(MS(10_000), MS(30), true);
        assert!(!round_trip.is_probed());
        round_trip.sample(MS(10_001), MS(30), true);
        assert!(round_trip.is_probed());
        round_trip.sample(MS(10_020), MS(28), true);
        round_trip.sample(MS(10_030), MS(25), true);
        assert_eq!(round_trip.min(), Some(MS(20)), "until the end it stands");
        round_trip.sample(MS(10_060), MS(27), true);
        assert!(!round_trip.is_probed());
        assert_eq!(round_trip.min(), Some(MS(25)));
        round_trip.sample(MS(10_070), MS(24), true);
        assert_eq!(round_trip.min(), Some(MS(24)));
    }

    #[test]
    fn minimum_stays_without_draining() {
        let mut round_trip = RoundTrip::new(Time::ZERO, None);
        round_trip.sample(MS(0), MS(20), false);
        round_trip.sample(MS(30_000), MS(900), false);
        assert!(!round_trip.is_probed());
        assert_eq!(round_trip.min(), Some(MS(20)));
        round_trip.sample(MS(30_001), MS(900), true);
        assert!(round_trip.is_probed());
    }

    #[test]
    fn repeated_minimum_needs_no_probe() {
        let mut round_trip = RoundTrip::new(Time::ZERO, None);
        for second in 0..30 {
            round_trip.sample(MS(1000 * second), MS(20), true);
            assert!(!round_trip.is_probed());
        }
    }
}
