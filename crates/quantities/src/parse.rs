//! Parser of quantities as `tc` and netem users spell them: a decimal number and a unit.

use std::str::FromStr;

use crate::{Bytes, Decimal, QuantityError, QuantityProblem, Rate, Time};

impl Time {
    /// Allowed times, for error messages.
    pub const ALLOWED: &'static str = r#"a time such as "10 ms" (units: ns us ms s min h d)"#;

    /// Units with their nanoseconds, case-sensitive.
    pub const UNITS: &'static [(&'static str, u64)] = &[
        ("ns", 1),
        ("nsec", 1),
        ("nsecs", 1),
        ("us", 1_000),
        ("usec", 1_000),
        ("usecs", 1_000),
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
        ("ms", 1_000_000),
        ("msec", 1_000_000),
        ("msecs", 1_000_000),
        ("s", 1_000_000_000),
        ("sec", 1_000_000_000),
        ("secs", 1_000_000_000),
        ("min", 60_000_000_000),
        ("mins", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ];
}

impl Rate {
    /// Allowed rates, for error messages.
    pub const ALLOWED: &'static str =
        r#"a rate such as "20 Mbit/s" (units: bit/s kbit/s Mbit/s Gbit/s)"#;

    /// Units with their bits per second, not case-sensitive and optionally with `/s`, as in `tc`.
    pub const UNITS: &'static [(&'static str, u64)] = &[
        ("bit", 1),
        ("kbit", 1_000),
        ("Mbit", 1_000_000),
        ("Gbit", 1_000_000_000),
        ("Tbit", 1_000_000_000_000),
        ("Kibit", 1 << 10),
        ("Mibit", 1 << 20),
        ("Gibit", 1 << 30),
    ];
}

impl Bytes {
    /// Allowed sizes, for error messages.
    pub const ALLOWED: &'static str =
        r#"a size such as "64 KiB" or "20 MB" (units: B kB MB GB KiB MiB GiB)"#;

    /// Units with their bytes, case-sensitive.
    pub const UNITS: &'static [(&'static str, u64)] = &[
        ("B", 1),
        ("byte", 1),
        ("bytes", 1),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ];
}

/// `"10ms"`, `"1.5 s"`, `"200us"`, `"5 min"`, `"0"`.
impl FromStr for Time {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Time, QuantityError> {
        scaled(text, time_unit)
            .map(Time::from_nanos)
            .map_err(|problem| QuantityError::new(problem, Time::ALLOWED))
    }
}

/// `"20mbit"`, `"20 Mbit/s"`, `"35.9 Mbit/s"`; never `"20Mbps"`, which `tc` reads as bytes.
impl FromStr for Rate {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Rate, QuantityError> {
        scaled(text, rate_unit)
            .map(Rate::from_bps)
            .map_err(|problem| QuantityError::new(problem, Rate::ALLOWED))
    }
}

/// `"20 MB"`, `"4 MiB"`, `"1448 B"`; never `"64k"`, which `tc` reads as binary.
impl FromStr for Bytes {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Bytes, QuantityError> {
        scaled(text, bytes_unit)
            .map(Bytes::new)
            .map_err(|problem| QuantityError::new(problem, Bytes::ALLOWED))
    }
}

/// Allowed probabilities, for error messages.
pub const PROBABILITY_ALLOWED: &str = r#"a percentage such as "0.1 %", from 0 to 100"#;

/// Parses `"0.1%"` or `"0.1 %"` as a probability, here 0.001.
///
/// # Errors
/// The text is not a percentage, or above 100.
pub fn parse_probability(text: &str) -> Result<f64, QuantityError> {
    probability(text).map_err(|problem| QuantityError::new(problem, PROBABILITY_ALLOWED))
}

/// Formats a probability as the percentage that [`parse_probability`] reads: 0.001 is `"0.1 %"`.
#[must_use]
pub fn percentage(probability: f64) -> String {
    let text = probability.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    // The decimal point moves by two places, so that no digit is rounded.
    let fraction = format!("{fraction:0<2}");
    let (hundredths, rest) = fraction.split_at(2);
    let whole = format!("{whole}{hundredths}");
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    match rest {
        "" => format!("{whole} %"),
        rest => format!("{whole}.{rest} %"),
    }
}

fn probability(text: &str) -> Result<f64, QuantityProblem> {
    let (number, unit) = Decimal::split(text)?;
    match unit {
        "%" if number.to_f64(-2) <= 1.0 => Ok(number.to_f64(-2)),
        "%" => Err(QuantityProblem::TooLarge),
        "" if number.is_zero() => Ok(0.0),
        "" => Err(QuantityProblem::MissingUnit),
        unit => Err(QuantityProblem::unknown_unit(unit)),
    }
}

/// Parses a number and its unit, and multiplies; zero needs no unit.
fn scaled(
    text: &str,
    unit_size: fn(&str) -> Result<u64, QuantityProblem>,
) -> Result<u64, QuantityProblem> {
    let (number, unit) = Decimal::split(text)?;
    if unit.is_empty() {
        return if number.is_zero() {
            Ok(0)
        } else {
            Err(QuantityProblem::MissingUnit)
        };
    }
    number
        .times(unit_size(unit)?)
        .ok_or(QuantityProblem::TooLarge)
}

fn time_unit(unit: &str) -> Result<u64, QuantityProblem> {
    let known = Time::UNITS.iter().find(|(name, _)| *name == unit);
    match (known, unit) {
        (Some((_, nanos)), _) => Ok(*nanos),
        (None, "m" | "M") => Err(QuantityProblem::ambiguous(unit, "ms or min")),
        (None, _) => Err(QuantityProblem::unknown_unit(unit)),
    }
}

fn rate_unit(unit: &str) -> Result<u64, QuantityProblem> {
    let lower = unit.to_ascii_lowercase();
    let lower = lower.strip_suffix("/s").unwrap_or(&lower);
    let known = Rate::UNITS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(lower));
    match (known, lower) {
        (Some((_, bps)), _) => Ok(*bps),
        (None, "b" | "bps") => Err(QuantityProblem::ambiguous(unit, "bit/s")),
        (None, "k" | "kb" | "kbps") => Err(QuantityProblem::ambiguous(unit, "kbit/s")),
        (None, "m" | "mb" | "mbps") => Err(QuantityProblem::ambiguous(unit, "Mbit/s")),
        (None, "g" | "gb" | "gbps") => Err(QuantityProblem::ambiguous(unit, "Gbit/s")),
        (None, _) => Err(QuantityProblem::unknown_unit(unit)),
    }
}

fn bytes_unit(unit: &str) -> Result<u64, QuantityProblem> {
    let known = Bytes::UNITS.iter().find(|(name, _)| *name == unit);
    match (known, unit) {
        (Some((_, bytes)), _) => Ok(*bytes),
        (None, "b") => Err(QuantityProblem::ambiguous(unit, "B")),
        (None, "k" | "K" | "kb" | "Kb") => Err(QuantityProblem::ambiguous(unit, "kB or KiB")),
        (None, "m" | "M" | "mb" | "Mb") => Err(QuantityProblem::ambiguous(unit, "MB or MiB")),
        (None, "g" | "G" | "gb" | "Gb") => Err(QuantityProblem::ambiguous(unit, "GB or GiB")),
        (None, _) => Err(QuantityProblem::unknown_unit(unit)),
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
