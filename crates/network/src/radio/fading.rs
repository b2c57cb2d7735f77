//! Nakagami fading: gamma-distributed powers.

use rand_pcg::Pcg64Mcg;

use crate::uniform::uniform;

/// Draws from the gamma distribution of this shape and mean 1 (Marsaglia and Tsang 2000).
pub(super) fn gamma(shape: f64, stream: &mut Pcg64Mcg) -> f64 {
    if shape < 1.0 {
        // Section 6: a draw for shape + 1, times a power of a uniform draw.
        let above = unscaled(shape + 1.0, stream);
        return above * positive(stream).powf(1.0 / shape) / shape;
    }
    unscaled(shape, stream) / shape
}

/// Draws for a shape of at least 1; the mean is the shape.
fn unscaled(shape: f64, stream: &mut Pcg64Mcg) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = normal(stream);
        let v = (1.0 + c * x).powi(3);
        if v <= 0.0 {
            continue;
        }
        let u = positive(stream);
        let square = x * x;
        if u < 1.0 - 0.0331 * square * square || u.ln() < 0.5 * square + d * (1.0 - v + v.ln()) {
            return d * v;
        }
    }
}

/// Draws a standard normal number by the polar method (Marsaglia and Bray 1964). The second of the pair is
/// discarded, so draws have no state.
fn normal(stream: &mut Pcg64Mcg) -> f64 {
    loop {
        let x = 2.0 * uniform(stream) - 1.0;
        let y = 2.0 * uniform(stream) - 1.0;
        let s = x * x + y * y;
        if s > 0.0 && s < 1.0 {
            return x * (-2.0 * s.ln() / s).sqrt();
        }
    }
}

/// Draws uniformly from (0, 1].
fn positive(stream: &mut Pcg64Mcg) -> f64 {
    1.0 - uniform(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream;

    #[test]
    fn draws_have_the_distributions_mean_variance_and_median() {
        // Medians at mean 1: ln 2 for the exponential, others by numerical integration.
        for (shape, median) in [
            (0.75, 0.605_56),
            (1.0, std::f64::consts::LN_2),
            (1.5, 0.788_66),
            (4.0, 0.918_02),
        ] {
            let mut stream = stream(1, "channel/one/fading");
            let draws: Vec<f64> = (0..200_000).map(|_| gamma(shape, &mut stream)).collect();
            let count = draws.len() as f64;
            let mean = draws.iter().sum::<f64>() / count;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
            let below = draws.iter().filter(|x| **x < median).count() as f64 / count;
            let error = (1.0 / (shape * count)).sqrt();
            assert!((mean - 1.0).abs() < 4.0 * error, "{shape}: {mean}");
            assert!((variance * shape - 1.0).abs() < 0.05, "{shape}: {variance}");
            assert!(
                (below - 0.5).abs() < 4.0 * 0.5 / count.sqrt(),
                "{shape}: {below}"
            );
        }
    }
}
