//! Fixed-point powers: adding and subtracting the same powers gives exactly zero.

const UNITS_PER_MW: f64 = (1_u64 << 48) as f64;

/// Maximum of one frame, 1 W, so that a sum of thousands does not overflow.
const MAX: f64 = 1000.0 * UNITS_PER_MW;

/// Power in units of 2^-48 mW (-144.5 dBm).
pub(super) type Power = i64;

/// Converts from dBm; at least one unit.
pub(super) fn from_dbm(dbm: f64) -> Power {
    from_units(10_f64.powf(dbm / 10.0) * UNITS_PER_MW)
}

/// Converts from a number of units; at least one.
pub(super) fn from_units(units: f64) -> Power {
    units.round().clamp(1.0, MAX) as Power
}

pub(super) fn to_dbm(power: Power) -> f64 {
    10.0 * (power as f64 / UNITS_PER_MW).log10()
}

/// Returns thermal noise over 20 MHz at 290 K plus the noise figure, dBm; the same for all standards, as in
/// ns-3.
pub fn noise_dbm(noise_figure_db: f64) -> f64 {
    const BOLTZMANN: f64 = 1.3803e-23;
    10.0 * (BOLTZMANN * 290.0 * 20e6 * 1000.0).log10() + noise_figure_db
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_as_in_the_reference_runs() {
        assert!((noise_dbm(7.0) - -93.97).abs() < 0.005);
    }

    #[test]
    fn units_are_fine_enough_for_a_tenth_of_the_noise() {
        let units = from_dbm(noise_dbm(7.0) - 10.0) as f64;
        let back = 10.0 * (units / UNITS_PER_MW).log10();
        assert!((back - (noise_dbm(7.0) - 10.0)).abs() < 1e-3);
        assert_eq!(from_dbm(-400.0), 1);
    }
}
