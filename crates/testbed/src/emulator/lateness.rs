//! Lateness of the emulator's deliveries.

use ropewalk_quantities::Time;
use ropewalk_simulator::Histogram;

const TRUSTED: Time = Time::from_millis(1);

/// Distribution of delivery times minus due times.
#[derive(Clone, Debug, Default)]
pub struct Lateness(Histogram);

/// Statistics of a [`Lateness`].
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LatenessSummary {
    /// Arithmetic mean, in milliseconds.
    pub mean: f64,
    /// Median, in milliseconds.
    pub p50: f64,
    /// 99th percentile, in milliseconds.
    pub p99: f64,
    /// Maximum, in milliseconds.
    pub max: f64,
}

impl Lateness {
    pub(crate) fn record(&mut self, late: Time) {
        self.0.record(late);
    }

    /// Mean, median, 99th percentile and maximum; `None` if no packet was delivered.
    pub fn summary(&self) -> Option<LatenessSummary> {
        let summary = self.0.summary()?;
        Some(LatenessSummary {
            mean: summary.mean,
            p50: summary.p50,
            p99: summary.p99,
            max: summary.max,
        })
    }

    /// Whether at most one packet in a hundred was more than a millisecond late.
    pub fn is_trusted(&self) -> bool {
        self.0.percentile(0.99) <= TRUSTED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_late_packets_of_a_hundred_are_too_many() {
        let mut lateness = Lateness::default();
        for _ in 0..99 {
            lateness.record(Time::from_micros(100));
        }
        lateness.record(Time::from_millis(5));
        assert!(lateness.is_trusted());
        lateness.record(Time::from_millis(5));
        assert!(!lateness.is_trusted());
        assert_eq!(lateness.summary().unwrap().max, 5.0);
    }
}
