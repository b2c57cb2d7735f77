//! Probability that a bit is received without error, given the SINR.
//!
//! OFDM: L. E. Miller, "Validation of 802.11a/UWB coexistence simulation", NIST 2003. DSSS and CCK: G. Pei
//! and T. R. Henderson, "Validation of OFDM error rate model in ns-3", Boeing 2010, and "Validation of ns-3
//! 802.11b PHY model", 2009.

use std::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};
use std::sync::LazyLock;

use super::config::ErrorModel;
use super::standard::DataRate;

/// Power ratio to interference required without an error model: ns-2's capture threshold of 10 dB.
const CLEAR_OF_OTHERS: f64 = 10.0;

/// Frame error model.
#[derive(Clone, Debug)]
pub struct FrameError {
    model: ErrorModel,
}

impl FrameError {
    /// Creates the evaluator of a model.
    pub fn new(model: &ErrorModel) -> FrameError {
        FrameError {
            model: model.clone(),
        }
    }

    /// Returns the error ratio of frames of this many bits, at this SNR without interference.
    pub fn ratio(&self, rate: DataRate, snr_db: f64, bits: f64) -> f64 {
        let snr = 10_f64.powf(snr_db / 10.0);
        -(self.log_success(rate, snr, 1.0, 0.0) * bits).exp_m1()
    }

    pub(super) fn log_success(
        &self,
        rate: DataRate,
        signal: f64,
        noise: f64,
        interference: f64,
    ) -> f64 {
        let ratio = signal / (noise + interference);
        match &self.model {
            ErrorModel::Nist => formula(rate, ratio),
            ErrorModel::Table(table) => table
                .log_success(rate, 10.0 * ratio.log10())
                .unwrap_or_else(|| formula(rate, ratio)),
            ErrorModel::None if signal >= CLEAR_OF_OTHERS * interference => 0.0,
            ErrorModel::None => f64::NEG_INFINITY,
        }
    }
}

/// Returns the success probability of a bit at a power ratio, by the analytic formulas.
fn formula(rate: DataRate, s: f64) -> f64 {
    match rate {
        // Differential BPSK and QPSK over 11 chips.
        DataRate::Dsss1 => log_pass(0.5 * (-11.0 * 2.0 * s).exp()),
        DataRate::Dsss2 => {
            let x = 11.0 * s;
            let scale = (1.0 + SQRT_2) / (8.0 * PI * SQRT_2).sqrt();
            log_pass((scale / x.sqrt() * (-(2.0 - SQRT_2) * x).exp()).min(0.5))
        }
        // Symbols of 4 and 8 bits; the latter count as two of the former (equation 16).
        DataRate::Cck5_5 => CCK.log_pass(8.0 * s) / 4.0,
        DataRate::Cck11 => 2.0 * CCK.log_pass(4.0 * s) / 8.0,
        DataRate::Ofdm6 => log_pass(coded(bpsk(s), &HALF)),
        DataRate::Ofdm9 => log_pass(coded(bpsk(s), &THREE_QUARTERS)),
        DataRate::Ofdm12 => log_pass(coded(qpsk(s), &HALF)),
        DataRate::Ofdm18 => log_pass(coded(qpsk(s), &THREE_QUARTERS)),
        DataRate::Ofdm24 => log_pass(coded(qam(s, 16.0), &HALF)),
        DataRate::Ofdm36 => log_pass(coded(qam(s, 16.0), &THREE_QUARTERS)),
        DataRate::Ofdm48 => log_pass(coded(qam(s, 64.0), &TWO_THIRDS)),
        DataRate::Ofdm54 => log_pass(coded(qam(s, 64.0), &THREE_QUARTERS)),
    }
}

fn log_pass(error: f64) -> f64 {
    (-error).ln_1p()
}

fn bpsk(s: f64) -> f64 {
    0.5 * libm::erfc(s.sqrt())
}

fn qpsk(s: f64) -> f64 {
    0.5 * libm::erfc((s / 2.0).sqrt())
}

fn qam(s: f64, m: f64) -> f64 {
    let side = m.sqrt();
    let z = (3.0 * s / (2.0 * (m - 1.0))).sqrt();
    (side - 1.0) / (side * side.log2()) * libm::erfc(z)
}

struct Code {
    /// 2 k, for the code rate k/n.
    twice_inputs: f64,
    free: i32,
    step: i32,
    weights: [f64; 10],
}

/// Code 133, 171 (octal), and its punctured variants.
const HALF: Code = Code {
    twice_inputs: 2.0,
    free: 10,
    step: 2,
    weights: [
        36.0,
        211.0,
        1_404.0,
        11_633.0,
        77_433.0,
        502_690.0,
        3_322_763.0,
        21_292_910.0,
        134_365_911.0,
        0.0,
    ],
};
const TWO_THIRDS: Code = Code {
    twice_inputs: 4.0,
    free: 6,
    step: 1,
    weights: [
        3.0,
        70.0,
        285.0,
        1_276.0,
        6_160.0,
        27_128.0,
        117_019.0,
        498_860.0,
        2_103_891.0,
        8_784_123.0,
    ],
};
const THREE_QUARTERS: Code = Code {
    twice_inputs: 6.0,
    free: 5,
    step: 1,
    weights: [
        42.0,
        201.0,
        1_492.0,
        10_469.0,
        62_935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
};

/// Returns the union bound of the decoder's output bit error ratio.
fn coded(error: f64, code: &Code) -> f64 {
    let d = (4.0 * error * (1.0 - error)).sqrt();
    let (mut power, step) = (d.powi(code.free), d.powi(code.step));
    let mut sum = 0.0;
    for weight in code.weights {
        sum += weight * power;
        power *= step;
    }
    (sum / code.twice_inputs).min(1.0)
}

/// Constant, so computed once.
static CCK: LazyLock<CckTable> = LazyLock::new(CckTable::new);

/// Error probabilities of CCK's 4-bit symbols, tabulated because each is an integral.
#[derive(Clone, Debug)]
struct CckTable {
    /// ln(-ln(1 - error)) at multiples of [`CckTable::STEP`] of b, from 0.
    points: Vec<f64>,
}

impl CckTable {
    const STEP: f64 = 0.05;
    /// Largest b; above, an error is less likely than 1e-14.
    const END: f64 = 11.0;

    fn new() -> CckTable {
        // Two more points for the interpolation at the ends.
        let count = (CckTable::END / CckTable::STEP).round() as i32 + 2;
        let point = |index: i32| {
            let error = symbol_error(f64::from(index) * CckTable::STEP);
            (-(-error).ln_1p()).ln()
        };
        CckTable {
            points: (-1..=count).map(point).collect(),
        }
    }

    /// Returns ln(1 - error) at a ratio e of energy to noise: b = sqrt(2 e).
    fn log_pass(&self, e: f64) -> f64 {
        let b = (2.0 * e).sqrt();
        if b >= CckTable::END {
            return 0.0;
        }
        let place = b / CckTable::STEP;
        let index = place as usize;
        let t = place - index as f64;
        let [p0, p1, p2, p3] = [0, 1, 2, 3].map(|offset| self.points[index + offset]);
        // Cubic Lagrange interpolation.
        let value = -t * (t - 1.0) * (t - 2.0) / 6.0 * p0
            + (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0 * p1
            - (t + 1.0) * t * (t - 2.0) / 2.0 * p2
            + (t + 1.0) * t * (t - 1.0) / 6.0 * p3;
        -value.exp()
    }
}

/// Returns the error of 16 biorthogonal signals, 1 - int_{-b}^inf (2 Phi(x + b) - 1)^7 phi(x) dx (Proakis,
/// Digital Communications, 5.2-34), by the trapezoid rule.
fn symbol_error(b: f64) -> f64 {
    let q = |x: f64| 0.5 * libm::erfc(x * FRAC_1_SQRT_2);
    const PARTS: i32 = 1200;
    let end = 9.0;
    let from = (-b).max(-end);
    let width = (end - from) / f64::from(PARTS);
    let mut sum = 0.0;
    for part in 0..=PARTS {
        let x = from + f64::from(part) * width;
        let density = (-0.5 * x * x).exp() / (2.0 * PI).sqrt();
        // 1 - (1 - 2 Q)^7 without cancellation.
        let lost = -(7.0 * (-2.0 * q(x + b)).ln_1p()).exp_m1();
        let weight = if part == 0 || part == PARTS { 0.5 } else { 1.0 };
        sum += weight * lost * density;
    }
    (q(b) + sum * width).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formulas of ns-3.44 for frames of 12,000 bits: tests/reference/wifi.
    #[test]
    fn formulas_meet_the_reference() {
        let reference = include_str!("../../../../tests/reference/wifi/ns3-error-rate.csv");
        let frame_error = FrameError::new(&ErrorModel::Nist);
        let mut rows = 0;
        for line in reference
            .lines()
            .filter(|line| !line.starts_with('#'))
            .skip(1)
        {
            let fields: Vec<&str> = line.split(',').collect();
            let rate = mode(fields[0]);
            let number = |index: usize| fields[index].parse::<f64>().unwrap();
            let ratio = frame_error.ratio(rate, number(1), number(2));
            let expected = number(3);
            assert!((ratio - expected).abs() < 1e-5, "{line}: {ratio}");
            rows += 1;
        }
        assert_eq!(rows, 108);
    }

    fn mode(name: &str) -> DataRate {
        let mbps = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let mbps = mbps.trim_end_matches("Mbps").replace('_', ".");
        let kbps = mbps.parse::<f64>().unwrap() * 1000.0;
        let mut rates = DataRate::ALL.into_iter();
        rates
            .find(|rate| {
                f64::from(rate.kbps()) == kbps && rate.is_ofdm() == name.starts_with("Ofdm")
            })
            .unwrap()
    }

    #[test]
    fn more_signal_never_loses_more() {
        let frame_error = FrameError::new(&ErrorModel::Nist);
        for rate in DataRate::ALL {
            let mut before = 1.0;
            for step in 0..700 {
                let ratio = frame_error.ratio(rate, f64::from(step) * 0.1 - 20.0, 8_000.0);
                assert!(ratio <= before + 1e-9, "{rate} at step {step}");
                before = ratio;
            }
            assert!(before < 1e-12);
        }
    }

    #[test]
    fn without_error_model_only_interference_matters() {
        let frame_error = FrameError::new(&ErrorModel::None);
        let log = |noise, interference| {
            frame_error.log_success(DataRate::Ofdm54, 1.0, noise, interference)
        };
        assert_eq!(log(100.0, 0.0), 0.0);
        assert_eq!(log(0.0, 0.1), 0.0);
        assert_eq!(log(0.0, 0.2), f64::NEG_INFINITY);
    }
}
