//! Random variates: uniform, exponential, normal, log-normal.

use std::f64::consts::TAU;

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Uniform in (0, 1], from the upper 53 bits of a draw; zero is excluded, since logarithms are taken.
#[inline]
pub(crate) fn uniform(random: &mut Pcg64Mcg) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

/// Exponential with mean 1.
pub(crate) fn exponential(random: &mut Pcg64Mcg) -> f64 {
    -uniform(random).ln()
}

/// Standard normal (Box-Muller).
pub(crate) fn normal(random: &mut Pcg64Mcg) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (TAU * uniform(random)).cos()
}

/// Log-normal with mean 1, from a normal draw.
pub(crate) fn log_normal(sigma: f64, normal: f64) -> f64 {
    (sigma * normal - sigma * sigma / 2.0).exp()
}
