//! Decimal numbers as written, exact until a unit turns them into integers.

use crate::QuantityProblem;

/// Stored digits of the fraction; the rest is far below half of any unit's last place.
const FRACTION_DIGITS: usize = 18;
const FRACTION_ONE: u128 = 1_000_000_000_000_000_000;

/// Non-negative number, exact to 18 decimal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    whole: u64,
    /// Multiples of 10^-18.
    fraction: u64,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal {
        whole: 0,
        fraction: 0,
    };

    /// Splits `"35.9 Mbit/s"` into the number and `"Mbit/s"`, without white space.
    ///
    /// # Errors
    /// The text does not begin with a number, or it is negative or beyond 2^64.
    pub fn split(text: &str) -> Result<(Decimal, &str), QuantityProblem> {
        let text = text.trim();
        if text.is_empty() {
            return Err(QuantityProblem::Empty);
        }
        if let Some(rest) = text.strip_prefix(['-', '\u{2212}']) {
            return Err(match split_unsigned(rest.trim_start()) {
                Err(QuantityProblem::NotANumber) => QuantityProblem::NotANumber,
                _ => QuantityProblem::Negative,
            });
        }
        split_unsigned(text)
    }

    /// Returns whether it is zero (to 18 places).
    pub const fn is_zero(self) -> bool {
        self.whole == 0 && self.fraction == 0
    }

    /// Returns the whole number, if it is one.
    pub const fn as_whole(self) -> Option<u64> {
        if self.fraction == 0 {
            Some(self.whole)
        } else {
            None
        }
    }

    /// Multiplies by a whole number, rounded half up; `None` beyond 2^64 - 1.
    pub fn times(self, factor: u64) -> Option<u64> {
        let factor = u128::from(factor);
        let fraction = (u128::from(self.fraction) * factor + FRACTION_ONE / 2) / FRACTION_ONE;
        let product = (u128::from(self.whole) * factor).checked_add(fraction)?;
        u64::try_from(product).ok()
    }

    /// Returns the nearest floating-point number to this times 10^`exponent`.
    pub fn to_f64(self, exponent: i32) -> f64 {
        // Printing and parsing rounds once; arithmetic on floats would round twice.
        format!("{}.{:018}e{exponent}", self.whole, self.fraction)
            .parse()
            .unwrap_or(f64::INFINITY)
    }
}

/// Formats a whole number over a unit, a power of ten, as an exact decimal: 22500 over 1000 is `22.5`.
pub(crate) fn fraction(number: u64, unit: u64) -> String {
    let (whole, rest) = (number / unit, number % unit);
    let places = unit.ilog10() as usize;
    let digits = format!("{rest:0places$}");
    match digits.trim_end_matches('0') {
        "" => whole.to_string(),
        digits => format!("{whole}.{digits}"),
    }
}

fn split_unsigned(text: &str) -> Result<(Decimal, &str), QuantityProblem> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (whole, rest) = text.split_at(digits(text));
    let (fraction, rest) = match rest.strip_prefix('.') {
        Some(after) => after.split_at(digits(after)),
        None => ("", rest),
    };
    if whole.is_empty() && fraction.is_empty() {
        return Err(QuantityProblem::NotANumber);
    }
    if rest.starts_with(',') {
        return Err(QuantityProblem::Comma);
    }
    let whole = match whole {
        "" => 0,
        digits => digits.parse().map_err(|_| QuantityProblem::TooLarge)?,
    };
    let kept = &fraction[..fraction.len().min(FRACTION_DIGITS)];
    let mut scaled = 0;
    for place in 0..FRACTION_DIGITS {
        let digit = kept.as_bytes().get(place).map_or(0, |digit| digit - b'0');
        scaled = scaled * 10 + u64::from(digit);
    }
    let number = Decimal {
        whole,
        fraction: scaled,
    };
    Ok((number, rest.trim_start()))
}
