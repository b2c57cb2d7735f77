//! Pace at which the quota of a link may be used.

use std::fmt;
use std::str::FromStr;

use ropewalk_quantities::{Bytes, Time, named};

/// Number of instalments of a period at an even pace. The first one counts as passed from the start, so that
/// a link can be used at once.
const INSTALMENTS: u128 = 100;

named! {
    /// Pace at which the quota of a link may be used.
    #[derive(Default)]
    pub enum Pace {
        /// No limit before the quota is used up.
        #[default]
        Free = "free",
        /// Evenly: the used fraction does not exceed the fraction of the period that has passed, in
        /// hundredths. A link above this limit is used only while no other is alive.
        Even = "even",
        /// By price: the faster the quota is used, the more expensive the link.
        Priced = "priced",
    }
}

/// Use of a quota, and progress of its period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Quota of a period.
    pub quota: Bytes,
    /// Bytes used in this period.
    pub used: Bytes,
    /// Length of this period; if counting began within it, the remainder from then on.
    pub period: Time,
    /// Elapsed part of the period.
    pub passed: Time,
}

impl Pace {
    /// Bytes that a link may carry now.
    ///
    /// ```
    /// use ropewalk_quantities::{Bytes, Time};
    /// use ropewalk_transport::scheduling::quota_pace::{Pace, Progress};
    ///
    /// let days = |days: u64| Time::from_secs(86_400 * days);
    /// let [quota, used] = [100, 50].map(Bytes::new);
    /// let progress = |passed| Progress { quota, used, period: days(30), passed: days(passed) };
    /// assert_eq!(Pace::Free.allowed(&progress(5)), Bytes::new(50));
    /// assert_eq!(Pace::Even.allowed(&progress(5)), Bytes::new(0));
    /// // Two thirds have passed, and the hundredth under way counts.
    /// assert_eq!(Pace::Even.allowed(&progress(20)), Bytes::new(17));
    /// ```
    #[must_use]
    pub fn allowed(self, progress: &Progress) -> Bytes {
        let quota = progress.quota.as_u64();
        let allowed = match self {
            Pace::Free | Pace::Priced => quota,
            Pace::Even => {
                let [passed, period] = [progress.passed, progress.period].map(Time::as_nanos);
                let [passed, period] = [passed, period.max(1)].map(u128::from);
                let instalments = (passed * INSTALMENTS / period + 1).min(INSTALMENTS);
                let allowed = u128::from(quota) * instalments / INSTALMENTS;
                u64::try_from(allowed).unwrap_or(u64::MAX)
            }
        };
        Bytes::new(allowed.saturating_sub(progress.used.as_u64()))
    }

    /// Factor on the link's cost, by which schedulers that consider costs save a quota that would run out:
    /// `max(1, used / quota x period / passed)^2` if it is priced.
    ///
    /// ```
    /// use ropewalk_quantities::{Bytes, Time};
    /// use ropewalk_transport::scheduling::quota_pace::{Pace, Progress};
    ///
    /// let days = |days: u64| Time::from_secs(86_400 * days);
    /// let [quota, used] = [100, 50].map(Bytes::new);
    /// let progress = |passed| Progress { quota, used, period: days(30), passed: days(passed) };
    /// assert_eq!(Pace::Priced.cost_factor(&progress(5)), 9.0);
    /// assert_eq!(Pace::Priced.cost_factor(&progress(20)), 1.0);
    /// assert_eq!(Pace::Even.cost_factor(&progress(5)), 1.0);
    /// ```
    #[must_use]
    pub fn cost_factor(self, progress: &Progress) -> f64 {
        if self != Pace::Priced {
            return 1.0;
        }
        let part = |of: u64, whole: u64| of as f64 / whole.max(1) as f64;
        let used = part(progress.used.as_u64(), progress.quota.as_u64());
        let passed = part(progress.passed.as_nanos(), progress.period.as_nanos());
        (used / passed.max(1.0 / INSTALMENTS as f64))
            .max(1.0)
            .powi(2)
    }
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Pace, String> {
        Pace::from_name(text).ok_or_else(|| format!("{text:?}; allowed: free, even, priced"))
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_pace_allows_passed_hundredths_and_current_one() {
        let allowed = |passed| {
            let [quota, used] = [10_000, 0].map(Bytes::new);
            let [period, passed] = [1000, passed].map(Time::from_secs);
            let progress = Progress {
                quota,
                used,
                period,
                passed,
            };
            Pace::Even.allowed(&progress).as_u64()
        };
        let passed = [0, 9, 10, 505, 989, 990, 1000, 2000];
        assert_eq!(
            passed.map(allowed),
            [100, 100, 200, 5100, 9900, 10_000, 10_000, 10_000]
        );
    }
}
