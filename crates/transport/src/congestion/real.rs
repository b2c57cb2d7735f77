//! Conversions between integers and real numbers below 2^63, where a processor converts a signed number in
//! one instruction and an unsigned one in six. None is NaN, which [`f64::min`] and [`f64::max`] check for.

#[inline]
pub(super) fn real(amount: u64) -> f64 {
    debug_assert!(amount <= i64::MAX as u64, "{amount} is below 2^63");
    amount as i64 as f64
}

#[inline]
pub(super) fn whole(number: f64) -> u64 {
    debug_assert!(number >= 0.0, "{number} is not below zero");
    number as i64 as u64
}

#[inline]
pub(super) fn lesser(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

#[inline]
pub(super) fn greater(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn conversions_equal_language_casts(amount in 0..i64::MAX as u64, number in 0.0..9e18) {
            prop_assert_eq!(real(amount), amount as f64);
            prop_assert_eq!(whole(number), number as u64);
            prop_assert_eq!(lesser(real(amount), number), (amount as f64).min(number));
            prop_assert_eq!(greater(real(amount), number), (amount as f64).max(number));
        }
    }
}
