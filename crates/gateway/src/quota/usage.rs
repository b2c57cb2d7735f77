//! Counted usage of a link by the calendar of its quota, and the rest of the quota.

use std::time::Duration;

use jiff::civil::Date;
use jiff::{Span, Zoned};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::{Progress, Terms};
use serde::{Deserialize, Serialize};

use crate::quota_policy::{AtCap, Period, QuotaPolicy};

/// Three hundred years: a clock may show any time.
const MAX_MILLIS: i64 = 10_000_000_000_000;

/// Traffic of a link in the current period and day, as of its last traffic.
///
/// Both only move forward: a clock that jumps back (a router without a battery starts in 1970) does not
/// restore a quota.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Calendar to which `began` refers.
    terms: String,
    /// First day (of months) or second (of spans) of the period, since 1970.
    began: i64,
    /// Start of the count in seconds since 1970: later than `began` in the first period.
    #[serde(default)]
    since: i64,
    /// Bytes counted since then.
    pub used: u64,
    day: i64,
    /// Bytes counted on that day.
    pub used_today: u64,
}

impl QuotaPolicy {
    /// Returns the time until the quota is used up at the mean rate so far; `None` if unknown.
    pub fn lasts(&self, usage: &Usage, now: &Zoned) -> Option<Duration> {
        let left = self.quota?.as_u64().saturating_sub(usage.used);
        let elapsed = u64::try_from(now.timestamp().as_second() - usage.since).ok()?;
        let lasts = u128::from(left) * u128::from(elapsed) / u128::from(usage.used.max(1));
        (usage.used > 0 && elapsed > 0)
            .then(|| Duration::from_secs(u64::try_from(lasts).unwrap_or(u64::MAX)))
    }

    fn calendar(&self) -> String {
        match self.period {
            Period::Month => format!("month from day {}", self.start_day.max(1)),
            span @ Period::Span(_) => span.to_string(),
        }
    }

    /// Returns the bytes left; `None` if nothing is counted.
    pub fn left(&self, usage: &Usage) -> Option<Bytes> {
        let left = |most: Option<Bytes>, used| Some(most?.as_u64().saturating_sub(used));
        let of_both = [
            left(self.quota, usage.used),
            left(self.daily, usage.used_today),
        ];
        of_both.into_iter().flatten().min().map(Bytes::new)
    }

    /// Returns the present terms of a link with that price.
    ///
    /// It may carry the rest of the quota, but no more than the pace allows. With nothing left it is a last
    /// resort, or throttled.
    pub fn terms(&self, price: f64, usage: &Usage, now: &Zoned) -> Terms {
        let terms = Terms {
            cost: price,
            quota: self.left(usage),
            rate: None,
        };
        if let (AtCap::Throttle(rate), Some(0)) = (self.at_cap, terms.quota.map(Bytes::as_u64)) {
            return Terms {
                quota: None,
                rate: Some(rate),
                ..terms
            };
        }
        let Some(quota) = self.quota else {
            return terms;
        };
        let [passed, period] = self.passed(usage, now);
        let progress = Progress {
            quota,
            used: Bytes::new(usage.used),
            period,
            passed,
        };
        Terms {
            cost: price * self.pace.cost_factor(&progress),
            quota: terms
                .quota
                .map(|left| left.min(self.pace.allowed(&progress))),
            rate: None,
        }
    }

    /// Returns the time since the period began, and its length. The first period begins with counting.
    fn passed(&self, usage: &Usage, now: &Zoned) -> [Time; 2] {
        let midnight = |day: i64| {
            let date = Date::constant(1970, 1, 1)
                .checked_add(Span::new().days(day))
                .ok()?;
            let begins = date.to_zoned(now.time_zone().clone()).ok()?;
            Some((date, begins.timestamp().as_second()))
        };
        let ends = match self.period {
            Period::Span(span) => usage.began + seconds(span),
            Period::Month => {
                // A month has at most 31 days, and two months have at least 59.
                let next = midnight(usage.began).and_then(|(began, _)| {
                    let later = began.checked_add(Span::new().days(31)).ok()?;
                    midnight(day_number(month_begins(later, self.start_day.max(1))))
                });
                next.map_or(usage.since + 31 * 86_400, |(_, seconds)| seconds)
            }
        };
        let began = match self.period {
            Period::Span(_) => usage.began,
            Period::Month => midnight(usage.began).map_or(0, |(_, seconds)| seconds),
        };
        let began = began.max(usage.since);
        let passed = now.timestamp().as_millisecond() - began * 1000;
        let period = (ends - began) * 1000;
        [passed, period].map(|millis| Time::from_millis(millis.clamp(0, MAX_MILLIS) as u64))
    }

    /// Returns the percentage used of the period's or the day's quota, whichever is higher.
    pub fn used_percent(&self, usage: &Usage) -> u64 {
        let part = |most: Option<Bytes>, used: u64| {
            let most = u128::from(most?.as_u64().max(1));
            u64::try_from(u128::from(used) * 100 / most).ok()
        };
        let of_both = [
            part(self.quota, usage.used),
            part(self.daily, usage.used_today),
        ];
        of_both.into_iter().flatten().max().unwrap_or_default()
    }
}

impl Usage {
    /// Begins a new period or day, if it is time.
    pub fn advance(&mut self, policy: &QuotaPolicy, now: &Zoned) {
        let today = day_number(now.date());
        if today > self.day {
            self.day = today;
            self.used_today = 0;
        }
        let terms = policy.calendar();
        let is_new = self.terms != terms;
        if self.terms.is_empty() {
            self.since = now.timestamp().as_second();
        }
        let began = match policy.period {
            Period::Month => day_number(month_begins(now.date(), policy.start_day.max(1))),
            Period::Span(span) => {
                let now = now.timestamp().as_second();
                let span = seconds(span);
                match is_new {
                    true => now,
                    false => self.began + (now - self.began).max(0) / span * span,
                }
            }
        };
        if is_new {
            // Bytes counted under another calendar are kept.
            self.terms = terms;
            self.began = began;
        } else if began > self.began {
            self.began = began;
            self.since = now.timestamp().as_second();
            self.used = 0;
        }
    }

    /// Counts bytes.
    pub fn charge(&mut self, bytes: u64) {
        self.used = self.used.saturating_add(bytes);
        self.used_today = self.used_today.saturating_add(bytes);
    }
}

/// Returns the length of a period in whole seconds, at least one.
fn seconds(span: Time) -> i64 {
    (span.as_nanos() / 1_000_000_000).max(1) as i64
}

fn day_number(date: Date) -> i64 {
    let since = date.since(Date::constant(1970, 1, 1));
    since.map_or(0, |span| span.get_days().into())
}

/// Returns the first day of the month, beginning on `start_day`, that contains a date.
fn month_begins(date: Date, start_day: u8) -> Date {
    let of = |month: Date| {
        let day = (start_day as i8).min(month.days_in_month());
        month.with().day(day).build().unwrap_or(month)
    };
    let this = of(date.first_of_month());
    match this <= date {
        true => this,
        false => of(date
            .first_of_month()
            .yesterday()
            .map_or(date, Date::first_of_month)),
    }
}
