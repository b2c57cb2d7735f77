//! Quota of a link, and its text forms.

use std::fmt;
use std::str::FromStr;

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_striping::Pace;

const ALLOWED_PERIODS: &str = "month, or days as 30d, or a time of at least 1s as 12h";

/// Quota of a link in both directions, and the action once it is used up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaPolicy {
    /// Bytes per period.
    pub quota: Option<Bytes>,
    /// Bytes per calendar day in this machine's time zone.
    pub daily: Option<Bytes>,
    /// Period of the quota.
    pub period: Period,
    /// First day of the period: 1 to 31, or the last day of shorter months; 0 (not given) means 1.
    pub start_day: u8,
    /// Pace at which the quota may be used up.
    pub pace: Pace,
    /// Action once the quota is used up.
    pub at_cap: AtCap,
}

/// The period of a quota.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Period {
    /// A calendar month in this machine's time zone.
    #[default]
    Month,
    /// A fixed span, from the first counted byte on.
    Span(Time),
}

/// Action on a link whose quota is used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtCap {
    /// Use it only while no other link is up.
    #[default]
    LastResort,
    /// Do not use it until the next period or day.
    Stop,
    /// Use it at this rate, in each direction.
    Throttle(Rate),
}

impl QuotaPolicy {
    /// Whether the link's bytes are counted.
    #[must_use]
    pub fn is_metered(&self) -> bool {
        self.quota.is_some() || self.daily.is_some()
    }
}

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Period, String> {
        let wrong = || format!("{text:?}; allowed: {ALLOWED_PERIODS}");
        let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
        let span = match (text, days) {
            ("month", _) => return Ok(Period::Month),
            (_, Some(days @ 1..=3660)) => Time::from_secs(days * 86_400),
            (_, Some(_)) => return Err(wrong()),
            (_, None) => text.parse().map_err(|_| wrong())?,
        };
        match span >= Time::from_secs(1) {
            true => Ok(Period::Span(span)),
            false => Err(wrong()),
        }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Period::Month => f.write_str("month"),
            Period::Span(span) => write!(f, "{}s", span.as_nanos() / 1_000_000_000),
        }
    }
}

impl FromStr for AtCap {
    type Err = String;

    fn from_str(text: &str) -> Result<AtCap, String> {
        match text {
            "last-resort" => Ok(AtCap::LastResort),
            "stop" => Ok(AtCap::Stop),
            _ => {
                let rate = text.parse().ok().filter(|rate: &Rate| rate.as_bps() > 0);
                let wrong =
                    || format!("{text:?}; allowed: last-resort, stop, or a rate as 512kbit");
                rate.map(AtCap::Throttle).ok_or_else(wrong)
            }
        }
    }
}

impl fmt::Display for AtCap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtCap::LastResort => f.write_str("last-resort"),
            AtCap::Stop => f.write_str("stop"),
            AtCap::Throttle(rate) => write!(f, "{}bit", rate.as_bps()),
        }
    }
}
