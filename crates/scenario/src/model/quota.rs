//! The data quota of a link.

use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::scheduling::quota_pace::{Pace, Progress};

/// The data quota of a link: both directions, all flows together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Counted are IP packets with their headers.
    pub size: Bytes,
    /// The period after which the quota starts anew; `None`: it is for the whole run.
    pub period: Option<Time>,
    /// How the quota may be spent over the period; [`Pace::Free`] without a period.
    pub pace: Pace,
}

impl Quota {
    /// The number of the period that contains a time. The run begins with the first; a period includes its
    /// last moment.
    #[must_use]
    pub fn period_at(&self, now: Time) -> u64 {
        let before = now.as_nanos().saturating_sub(1);
        self.period
            .map_or(0, |period| before / period.as_nanos().max(1))
    }

    /// How far the period is and how much is left, when this much has been used in the period that contains
    /// `now`.
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
