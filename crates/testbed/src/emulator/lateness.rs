//! How late packets are handed on.

use ropewalk_quantities::Time;
use ropewalk_simulator::Histogram;

/// Beyond this at p99 a run is not to be trusted.
const TRUSTED: Time = Time::from_millis(1);

/// When packets were handed on, less when they were due.
#[derive(Clone, Debug, Default)]
pub struct Lateness(Histogram);

/// A [`Lateness`] in numbers.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct LatenessSummary {
    /// Median, in milliseconds.
    pub p50: f64,
    /// 99th percentile, in milliseconds.
    pub p99: f64,
    /// Greatest, in milliseconds.
    pub max: f64,
}

impl Lateness {
    pub(crate) fn record(&mut self, late: Time) {
        self.0.record(late);
    }

    /// Median, 99th percentile and greatest; `None` if nothing was handed on.
    pub fn summary(&self) -> Option<LatenessSummary> {
        let summary = self.0.summary()?;
        Some(LatenessSummary {
            p50: summary.p50,
            p99: summary.p99,
            max: summary.max,
        })
    }

    /// Whether at most one packet of a hundred was more than a millisecond late.
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
