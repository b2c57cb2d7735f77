//! The data quota of a link.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::scheduling::quota_pace::{Pace, Progress};

/// Data quota of a link, over both directions and all flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Size, counting IP packets with headers.
    pub size: Bytes,
    /// Period after which the quota is renewed; `None`: the whole run.
    pub period: Option<Time>,
    /// Pace of use over the period; [`Pace::Free`] without a period.
    pub pace: Pace,
}

impl Quota {
    /// Index of the period that contains a time. A period includes its last instant.
    #[must_use]
    pub fn period_at(&self, now: Time) -> u64 {
        let before = now.as_nanos().saturating_sub(1);
        self.period
            .map_or(0, |period| before / period.as_nanos().max(1))
    }

    /// Progress of the period that contains `now`, with `used` bytes.
    #[must_use]
    pub fn progress(&self, now: Time, used: Bytes) -> Progress {
        let period = self.period.unwrap_or(Time::MAX);
        Progress {
            quota: self.size,
            used,
            period,
            passed: now - period * self.period_at(now),
        }
    }
}
