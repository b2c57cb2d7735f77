//! Random variates: uniform, exponential, normal, log-normal.

use std::f64::consts::TAU;

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

/// Draws from (0, 1] with 53 bits; zero is excluded because callers take logarithms.
#[inline]
pub(crate) fn uniform(random: &mut Pcg64Mcg) -> f64 {
    ((random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64
}

pub(crate) fn exponential(random: &mut Pcg64Mcg) -> f64 {
    -uniform(random).ln()
}

/// Draws a standard normal number (Box-Muller).
pub(crate) fn normal(random: &mut Pcg64Mcg) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (TAU * uniform(random)).cos()
}

/// Returns a log-normal number with mean 1, from a normal one.
pub(crate) fn log_normal(sigma: f64, normal: f64) -> f64 {
    (sigma * normal - sigma * sigma / 2.0).exp()
}
