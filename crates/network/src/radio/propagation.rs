//! Mean received power at a distance.

use std::f64::consts::PI;

use super::config::{ChannelConfig, Propagation, RadioConfig};

const LIGHT: f64 = 299_792_458.0;

/// Mean reception of the frames of one radio at another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// Received power, dBm.
    Power(f64),
    /// A carrier that is sensed, without power.
    Sensed,
    /// Nothing.
    Nothing,
}

/// Returns the distance of two positions, m.
pub fn distance_m(one: [f64; 3], other: [f64; 3]) -> f64 {
    let squares = (0..3).map(|axis| (one[axis] - other[axis]).powi(2));
    squares.sum::<f64>().sqrt()
}

impl Propagation {
    /// Returns the path loss at a distance, dB; `None` where nothing is received, or for a matrix.
    fn loss_db(&self, distance_m: f64) -> Option<f64> {
        let friis = |frequency_hz: f64, distance_m: f64| {
            let ratio = 4.0 * PI * distance_m * frequency_hz / LIGHT;
            // Within the near field of the antenna the formula would give a gain.
            (20.0 * ratio.log10()).max(0.0)
        };
        match self {
            Propagation::Friis { frequency_hz } => Some(friis(*frequency_hz, distance_m)),
            Propagation::LogDistance {
                exponent,
                reference_loss_db,
                reference_distance_m,
            } => {
                let ratio = (distance_m / reference_distance_m).max(1.0);
                Some(reference_loss_db + 10.0 * exponent * ratio.log10())
            }
            Propagation::TwoRay {
                frequency_hz,
                height_m,
            } => {
                let hop_event = 4.0 * PI * height_m * height_m * frequency_hz / LIGHT;
                Some(if distance_m <= hop_event {
                    friis(*frequency_hz, distance_m)
                } else {
                    40.0 * distance_m.log10() - 20.0 * (height_m * height_m).log10()
                })
            }
            Propagation::Range { .. } | Propagation::Matrix { .. } => None,
        }
    }
}

/// Returns the mean reception between two radios of the channel, by index.
pub fn reach(channel: &ChannelConfig, radios: &[RadioConfig], from: usize, to: usize) -> Reach {
    let (sender, receiver) = (&radios[from], &radios[to]);
    let sent = sender.power_dbm + sender.antenna_gain_db + receiver.antenna_gain_db;
    let distance = distance_m(sender.at, receiver.at);
    match &channel.propagation {
        Propagation::Range { range_m, sense_m } => {
            if distance <= *range_m {
                Reach::Power(sent)
            } else if distance <= *sense_m {
                Reach::Sensed
            } else {
                Reach::Nothing
            }
        }
        Propagation::Matrix { loss_db } => {
            let loss = loss_db[from][to];
            if loss.is_finite() {
                Reach::Power(sent - loss)
            } else {
                Reach::Nothing
            }
        }
        other => match other.loss_db(distance) {
            Some(loss) => Reach::Power(sent - loss),
            None => Reach::Nothing,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 0.01, "{found} for {expected}");
    }

    #[test]
    fn losses_follow_their_formulas() {
        let friis = Propagation::Friis {
            frequency_hz: 2.4e9,
        };
        near(friis.loss_db(1.0), 40.05);
        near(friis.loss_db(100.0), 80.05);
        assert_eq!(friis.loss_db(0.0), Some(0.0));
        // ns-3's reference loss is Friis's at 1 m and 5.15 GHz.
        let reference = Propagation::Friis {
            frequency_hz: 5.15e9,
        };
        near(reference.loss_db(1.0), 46.68);
        let log = Propagation::LogDistance {
            exponent: 3.0,
            reference_loss_db: 46.6777,
            reference_distance_m: 1.0,
        };
        near(log.loss_db(5.0), 46.6777 + 20.97);
        near(log.loss_db(0.1), 46.6777);
        let two_ray = Propagation::TwoRay {
            frequency_hz: 2.4e9,
            height_m: 1.5,
        };
        // Both branches meet at 4 pi h^2 f / c = 226 m.
        near(two_ray.loss_db(226.0), friis.loss_db(226.0).unwrap());
        near(two_ray.loss_db(1000.0), 120.0 - 7.04);
    }
}
