//! What a link may carry.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::scheduling::quota_pace::{Pace, Progress};

/// What a link may carry, there and back, of all flows together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// IP packets with their headers.
    pub size: Bytes,
    /// After which it is whole again; `None`: it is for the whole run.
    pub period: Option<Time>,
    /// How soon it may be gone; [`Pace::Free`] without a period.
    pub pace: Pace,
}

impl Quota {
    /// The number of the period that a time lies in, of which each ends with its last moment; the run begins
    /// with the first.
    #[must_use]
    pub fn period_at(&self, now: Time) -> u64 {
        let before = now.as_nanos().saturating_sub(1);
        self.period
            .map_or(0, |period| before / period.as_nanos().max(1))
    }

    /// How far it is, where so much has been used in the period that `now` lies in.
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
