use std::fmt;

use crate::decimal::fraction;
use crate::{Bytes, Time};

/// Rate of IP bits, headers included, in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// Creates a rate from bits per second.
    #[inline]
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(bps)
    }

    /// Creates a rate from 10^6 bits per second, rounded to the nearest bit; negative and NaN become zero.
    pub fn from_mbps(mbps: f64) -> Rate {
        Rate((mbps * 1e6).round() as u64)
    }

    /// Returns the rate in bits per second.
    #[inline]
    pub const fn as_bps(self) -> u64 {
        self.0
    }

    /// Returns the rate in 10^6 bits per second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the duration of `bytes` at this rate, rounded up to a nanosecond; infinite at rate zero.
    #[inline]
    pub fn transmission_time(self, bytes: Bytes) -> Time {
        if self.0 == 0 {
            return Time::MAX;
        }
        let bits = bytes.as_u64() * 8;
        match bits.checked_mul(1_000_000_000) {
            Some(scaled) => Time::from_nanos(scaled.div_ceil(self.0)),
            None => {
                let nanos = (u128::from(bits) * 1_000_000_000).div_ceil(u128::from(self.0));
                Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }

    /// Returns the whole bytes that pass in `span`.
    #[inline]
    pub fn bytes_in(self, span: Time) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.as_nanos()) / 1_000_000_000;
        Bytes::new(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}

/// Prints the exact value in the largest unit that it reaches: `20 Mbit/s`, `35.9 Mbit/s`, `64 kbit/s`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if n >= 1_000_000_000 => write!(f, "{} Gbit/s", fraction(n, 1_000_000_000)),
            n if n >= 1_000_000 => write!(f, "{} Mbit/s", fraction(n, 1_000_000)),
            n if n >= 1_000 => write!(f, "{} kbit/s", fraction(n, 1_000)),
            n => write!(f, "{n} bit/s"),
        }
    }
}
