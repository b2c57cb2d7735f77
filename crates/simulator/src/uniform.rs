//! Uniform draws that have a logarithm.

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Uniform in (0, 1], from the upper 53 bits of a draw.
#[inline]
pub(crate) fn uniform(random: &mut Pcg64Mcg) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}
