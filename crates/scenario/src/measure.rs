//! Numbers with fractional base units: decibels, metres, hertz.

use crate::error::Problem;
use ropewalk_quantities::QuantityProblem;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Measure {
    pub of: Dimension,
    pub least: f64,
    pub most: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dimension {
    /// dB
    Ratio,
    /// dBm
    Power,
    /// m
    Length,
    /// Hz
    Frequency,
}

impl Dimension {
    fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Dimension::Ratio => &[("dB", 1.0)],
            Dimension::Power => &[("dBm", 1.0)],
            Dimension::Length => &[("m", 1.0), ("cm", 0.01), ("km", 1000.0)],
            Dimension::Frequency => &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
        }
    }

    fn example(self) -> &'static str {
        match self {
            Dimension::Ratio => "\"7 dB\"",
            Dimension::Power => "\"16 dBm\"",
            Dimension::Length => "\"25 m\"",
            Dimension::Frequency => "\"2.4 GHz\"",
        }
    }
}

impl Measure {
    /// Parses a text to the base unit.
    pub fn read(&self, text: &str) -> Result<f64, Problem> {
        let text = text.trim();
        let unit_at = text
            .find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+'))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_at);
        let Ok(number) = number.parse::<f64>() else {
            return Err(Problem::Quantity(QuantityProblem::NotANumber));
        };
        let unit = unit.trim();
        let factor = match self.of.units().iter().find(|(known, _)| *known == unit) {
            Some((_, factor)) => *factor,
            None if unit.is_empty() && number == 0.0 => 1.0,
            None if unit.is_empty() => {
                return Err(Problem::Quantity(QuantityProblem::MissingUnit));
            }
            None => {
                let unit = unit.chars().take(20).collect();
                return Err(Problem::Quantity(QuantityProblem::UnknownUnit(unit)));
            }
        };
        let value = number * factor;
        if value < self.least {
            return Err(Problem::BelowLeast(self.write(self.least)));
        }
        if value > self.most {
            return Err(Problem::AboveMost(self.write(self.most)));
        }
        Ok(value)
    }

    /// Formats the value for a scenario file.
    pub fn write(&self, value: f64) -> String {
        format!("{value} {}", self.of.units()[0].0)
    }

    /// Allowed values, for error messages.
    pub fn allowed(&self) -> String {
        let (least, most) = (self.write(self.least), self.write(self.most));
        format!("{least} to {most}, such as {}", self.of.example())
    }

    /// Regular expression of the allowed texts.
    pub fn pattern(&self) -> String {
        let units: Vec<&str> = self.of.units().iter().map(|(unit, _)| *unit).collect();
        format!(
            r"^\s*(?:[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)\s*(?:{})|0)\s*$",
            units.join("|")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_and_bounds_are_kept() {
        let length = Measure {
            of: Dimension::Length,
            least: -1e6,
            most: 1e6,
        };
        assert_eq!(length.read("25 m"), Ok(25.0));
        assert_eq!(length.read("-2.5km"), Ok(-2500.0));
        assert_eq!(length.read("0"), Ok(0.0));
        assert_eq!(length.read(&length.write(12.5)), Ok(12.5));
        for wrong in ["", "m", "5", "5 dB", "2000 km", "1.2.3 m", "nan m", "1e9 m"] {
            assert!(length.read(wrong).is_err(), "{wrong:?}");
        }
        let allowed = "-1000000 m to 1000000 m, such as \"25 m\"";
        assert_eq!(length.allowed(), allowed);
    }
}
