use std::fmt;

use crate::decimal::fraction;

/// Amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(u64);

impl Bytes {
    /// Creates an amount from bytes.
    #[inline]
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// Creates an amount from binary kilobytes (1024 bytes).
    #[inline]
    pub const fn from_kib(kib: u64) -> Bytes {
        Bytes(kib << 10)
    }

    /// Creates an amount from binary megabytes (1,048,576 bytes).
    #[inline]
    pub const fn from_mib(mib: u64) -> Bytes {
        Bytes(mib << 20)
    }

    /// Returns the number of bytes.
    #[inline]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// Prints the exact value in the largest unit that needs at most one decimal place: `4 MiB`, `2.5 MB`,
/// `1448 B`.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths =
            |unit: u64| self.0 >= unit && (u128::from(self.0) * 10) % u128::from(unit) == 0;
        match self.0 {
            0 => f.write_str("0 B"),
            n if n % (1 << 30) == 0 => write!(f, "{} GiB", n >> 30),
            n if n % (1 << 20) == 0 => write!(f, "{} MiB", n >> 20),
            n if tenths(1_000_000_000) => write!(f, "{} GB", fraction(n, 1_000_000_000)),
            n if tenths(1_000_000) => write!(f, "{} MB", fraction(n, 1_000_000)),
            n if n % (1 << 10) == 0 => write!(f, "{} KiB", n >> 10),
            n if n % 1_000 == 0 => write!(f, "{} kB", n / 1_000),
            n => write!(f, "{n} B"),
        }
    }
}
