//! Measured frame error ratios over SINR.

use super::standard::DataRate;

/// Frame error ratios of frames of one length, at some rates.
#[derive(Clone, Debug, PartialEq)]
pub struct PerTable {
    name: String,
    frame_bytes: u32,
    /// For each measured rate, SNR in dB and logarithm of the success probability of a bit, sorted by SNR.
    curves: Vec<(DataRate, Vec<(f64, f64)>)>,
}

/// Error in a table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PerTableError {
    /// A line is not rate, SNR and ratio.
    #[error("line {line}: {text:?} is not a rate in Mbit/s, an SNR in dB and a frame error ratio")]
    NotAPoint {
        /// Line number, counted from 1.
        line: usize,
        /// The beginning of the line.
        text: String,
    },
    /// A rate does not exist in 802.11b, a and g.
    #[error("line {line}: {mbps} Mbit/s is no rate of 802.11b, a or g")]
    Rate {
        /// Line number, counted from 1.
        line: usize,
        /// The rate on this line.
        mbps: f64,
    },
    /// A ratio is outside 0 to 1.
    #[error("line {line}: a frame error ratio of {ratio} is not between 0 and 1")]
    Ratio {
        /// Line number, counted from 1.
        line: usize,
        /// The ratio on this line.
        ratio: f64,
    },
    /// The SNRs of a rate do not increase.
    #[error("line {line}: {snr_db} dB must be greater than the {before_db} dB above it")]
    Order {
        /// Line number, counted from 1.
        line: usize,
        /// The SNR on this line.
        snr_db: f64,
        /// The SNR above it, for the same rate.
        before_db: f64,
    },
    /// The table has no point.
    #[error("the table has no frame error ratio")]
    Empty,
}

/// Substitute for a ratio of 1, with which shorter frames would always fail too.
const ALL_BUT_CERTAIN: f64 = 1.0 - 1e-9;
/// Substitute for a ratio of 0, whose logarithm would be 0.
const NEXT_TO_NONE: f64 = 1e-9;

impl PerTable {
    /// Returns ns-3.44's table for the OFDM rates, sampled at each dB (TableBasedErrorRateModel). At 54
    /// Mbit/s it is 4.5 dB more favourable than the formulas.
    ///
    /// # Panics
    /// Never: a test reads the table.
    pub fn ns3() -> PerTable {
        let text = include_str!("ns3-ofdm-per.csv");
        PerTable::parse("ns-3", 1500, text).expect("a table of the project's own")
    }

    /// Parses comma-separated lines of rate in Mbit/s, SNR in dB and frame error ratio, measured with
    /// frames of `frame_bytes`. A first line without numbers, blank lines and comments after `#` are
    /// skipped.
    ///
    /// # Errors
    /// A line is malformed, a rate is unknown, a ratio is outside 0 to 1, SNRs are out of order, or the
    /// table is empty.
    pub fn parse(name: &str, frame_bytes: u32, text: &str) -> Result<PerTable, PerTableError> {
        let mut curves: Vec<(DataRate, Vec<(f64, f64)>)> = Vec::new();
        for (index, content) in text.lines().enumerate() {
            let line = index + 1;
            let content = content.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let numbers: Option<Vec<f64>> = content
                .split(',')
                .map(|field| {
                    field
                        .trim()
                        .parse()
                        .ok()
                        .filter(|number: &f64| number.is_finite())
                })
                .collect();
            let Some([mbps, snr_db, ratio]) = numbers.as_deref() else {
                if curves.is_empty() && !content.contains(|c: char| c.is_ascii_digit()) {
                    continue;
                }
                return Err(PerTableError::NotAPoint {
                    line,
                    text: content.chars().take(40).collect(),
                });
            };
            let (mbps, snr_db, ratio) = (*mbps, *snr_db, *ratio);
            let mut rates = DataRate::ALL.into_iter();
            let rate = rates
                .find(|rate| f64::from(rate.kbps()) == mbps * 1000.0)
                .ok_or(PerTableError::Rate { line, mbps })?;
            if !(0.0..=1.0).contains(&ratio) {
                return Err(PerTableError::Ratio { line, ratio });
            }
            let curve = match curves.iter_mut().find(|(of, _)| *of == rate) {
                Some((_, curve)) => curve,
                None => {
                    curves.push((rate, Vec::new()));
                    &mut curves.last_mut().expect("just pushed").1
                }
            };
            if let Some((before_db, _)) = curve.last()
                && *before_db >= snr_db
            {
                let before_db = *before_db;
                return Err(PerTableError::Order {
                    line,
                    snr_db,
                    before_db,
                });
            }
            let ratio = ratio.clamp(NEXT_TO_NONE, ALL_BUT_CERTAIN);
            let log_success = (-ratio).ln_1p() / (8.0 * f64::from(frame_bytes));
            curve.push((snr_db, log_success));
        }
        if curves.is_empty() {
            return Err(PerTableError::Empty);
        }
        Ok(PerTable {
            name: name.to_owned(),
            frame_bytes,
            curves,
        })
    }

    /// Returns the name in the scenario.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the length of the measured frames, bytes.
    pub fn frame_bytes(&self) -> u32 {
        self.frame_bytes
    }

    /// Returns the logarithm of the success probability of a bit at an SNR, with PER(L) = 1 - (1 - PER)^(L
    /// / L0); `None` for a rate that was not measured.
    ///
    /// Interpolated so that the logarithm of its absolute value is linear in dB. Below the first point all
    /// is lost, above the last nothing.
    pub fn log_success(&self, rate: DataRate, snr_db: f64) -> Option<f64> {
        let (_, curve) = self.curves.iter().find(|(of, _)| *of == rate)?;
        let above = curve.partition_point(|(db, _)| *db <= snr_db);
        if above == 0 {
            return Some(f64::NEG_INFINITY);
        }
        let (low_db, low) = curve[above - 1];
        let Some((high_db, high)) = curve.get(above) else {
            return Some(if low_db == snr_db { low } else { 0.0 });
        };
        let share = (snr_db - low_db) / (high_db - low_db);
        let log = (1.0 - share) * (-low).ln() + share * (-high).ln();
        Some(-log.exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "rate,snr_db,per\n# measured\n11, 4, 1\n11, 6, 0.1\n\n11,8,0 # none\n54,20,.5\n";

    fn per(table: &PerTable, rate: DataRate, snr_db: f64, bytes: f64) -> Option<f64> {
        let log = table.log_success(rate, snr_db)?;
        Some(1.0 - (8.0 * bytes * log).exp())
    }

    #[test]
    fn table_points_are_exact_and_longer_frames_fail_more() {
        let table = PerTable::parse("per.csv", 1000, TABLE).unwrap();
        assert_eq!((table.name(), table.frame_bytes()), ("per.csv", 1000));
        let at = |snr_db, bytes| per(&table, DataRate::Cck11, snr_db, bytes).unwrap();
        assert!((at(6.0, 1000.0) - 0.1).abs() < 1e-12);
        assert!((at(6.0, 2000.0) - 0.19).abs() < 1e-12);
        assert!(at(8.0, 1000.0) < 1e-8 && at(4.0, 1000.0) > 1.0 - 1e-8);
        assert_eq!((at(3.9, 14.0), at(8.1, 1500.0)), (1.0, 0.0));
        assert!(at(7.0, 1000.0) < 0.1 && at(5.0, 1000.0) > 0.1);
        assert_eq!(per(&table, DataRate::Dsss1, 6.0, 1000.0), None);
    }

    /// Interpolation error is at most half a step in dB.
    #[test]
    fn ns3s_table_is_read_and_falls() {
        let table = PerTable::ns3();
        for rate in DataRate::ALL.into_iter().filter(|rate| rate.is_ofdm()) {
            let ratios: Vec<f64> = (-40..=400)
                .map(|tenth| per(&table, rate, f64::from(tenth) / 10.0, 1500.0).unwrap())
                .collect();
            assert!(
                ratios.is_sorted_by(|before, after| before >= after),
                "{rate}"
            );
            assert!(ratios[0] == 1.0 && ratios[440] == 0.0, "{rate}");
        }
        let at_54 = per(&table, DataRate::Ofdm54, 18.0, 1500.0).unwrap();
        assert!((at_54 - 0.214_427).abs() < 1e-9, "{at_54}");
    }

    #[test]
    fn table_errors_name_their_line() {
        let error = |text| {
            PerTable::parse("per.csv", 1000, text)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error("rate,snr,per\n"),
            "the table has no frame error ratio"
        );
        for (text, told) in [
            ("11,4,1\n11,6", "line 2: \"11,6\" is not a rate"),
            ("7,4,1", "line 1: 7 Mbit/s is no rate"),
            ("11,4,1.5", "line 1: a frame error ratio of 1.5"),
            (
                "11,4,1\n11,4,0",
                "line 2: 4 dB must be greater than the 4 dB",
            ),
            ("11,4,nan", "line 1: \"11,4,nan\" is not"),
        ] {
            let error = error(text);
            assert!(error.starts_with(told), "{error}");
        }
    }
}
