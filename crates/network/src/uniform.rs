//! Uniform random numbers.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Uniform in [0, 1), from the upper 53 bits of a draw.
///
/// Implemented here, so that no change of a library affects results.
#[inline]
pub(crate) fn uniform(stream: &mut Pcg64Mcg) -> f64 {
    const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
    (stream.next_u64() >> 11) as f64 * SCALE
}
