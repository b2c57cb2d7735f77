use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

use crate::decimal::fraction;

/// Point or span of a clock that starts at zero, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// Start of the clock, and empty span.
    pub const ZERO: Time = Time(0);
    /// Later than any event: "never".
    pub const MAX: Time = Time(u64::MAX);

    /// Creates a time from nanoseconds.
    #[inline]
    pub const fn from_nanos(nanos: u64) -> Time {
        Time(nanos)
    }

    /// Creates a time from microseconds.
    #[inline]
    pub const fn from_micros(micros: u64) -> Time {
        Time(micros * 1_000)
    }

    /// Creates a time from milliseconds.
    #[inline]
    pub const fn from_millis(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    /// Creates a time from whole seconds.
    #[inline]
    pub const fn from_secs(secs: u64) -> Time {
        Time(secs * 1_000_000_000)
    }

    /// Creates a time from seconds, rounded to the nearest nanosecond; negative and NaN become zero.
    pub fn from_secs_f64(secs: f64) -> Time {
        Time((secs * 1e9).round() as u64)
    }

    /// Returns the time in nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the time in seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time in milliseconds.
    #[inline]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns `self - other`, or zero instead of a negative time.
    #[inline]
    pub const fn saturating_sub(self, other: Time) -> Time {
        Time(self.0.saturating_sub(other.0))
    }

    /// Returns `self + other`, or [`Time::MAX`] on overflow.
    #[inline]
    pub const fn saturating_add(self, other: Time) -> Time {
        Time(self.0.saturating_add(other.0))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline]
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    #[inline]
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline]
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl SubAssign for Time {
    #[inline]
    fn sub_assign(&mut self, other: Time) {
        self.0 -= other.0;
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    #[inline]
    fn mul(self, factor: u64) -> Time {
        Time(self.0 * factor)
    }
}

impl Div<u64> for Time {
    type Output = Time;
    #[inline]
    fn div(self, divisor: u64) -> Time {
        Time(self.0 / divisor)
    }
}

/// Prints the exact value in the largest unit that it reaches: `10 ms`, `22.5 ms`, `1.5 s`, `7200 s`.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0 s"),
            n if n >= 1_000_000_000 => write!(f, "{} s", fraction(n, 1_000_000_000)),
            n if n >= 1_000_000 => write!(f, "{} ms", fraction(n, 1_000_000)),
            n if n >= 1_000 => write!(f, "{} us", fraction(n, 1_000)),
            n => write!(f, "{n} ns"),
        }
    }
}
