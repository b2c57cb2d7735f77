//! Uniform random numbers.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Draws a uniform number in [0, 1) from 53 bits. Implemented here, so that no library update changes
/// results.
#[inline]
pub(crate) fn uniform(stream: &mut Pcg64Mcg) -> f64 {
    const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
    (stream.next_u64() >> 11) as f64 * SCALE
}
