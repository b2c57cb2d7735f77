//! Errors of texts that are not quantities.

/// Problem of a quantity's text, and the allowed texts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; allowed: {allowed}")]
pub struct QuantityError {
    /// Kind of problem.
    pub problem: QuantityProblem,
    /// Allowed texts.
    pub allowed: &'static str,
}

impl QuantityError {
    pub(crate) fn new(problem: QuantityProblem, allowed: &'static str) -> QuantityError {
        QuantityError { problem, allowed }
    }
}

/// Kind of problem in a quantity's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityProblem {
    /// The text is empty or white space.
    #[error("must not be empty")]
    Empty,
    /// The text does not begin with a decimal number ("nan" and "inf" do not).
    #[error("must begin with a number")]
    NotANumber,
    /// The number has a minus sign.
    #[error("must not be negative")]
    Negative,
    /// The number has a decimal comma.
    #[error("must have a decimal point, not a comma")]
    Comma,
    /// A number other than zero has no unit.
    #[error("must have a unit")]
    MissingUnit,
    /// The unit is unknown.
    #[error("unknown unit {0:?}")]
    UnknownUnit(String),
    /// The meaning of the unit differs between programs.
    #[error("unit {unit:?} means different things to different programs: write {instead}")]
    AmbiguousUnit {
        /// Unit in the text.
        unit: String,
        /// Unambiguous units.
        instead: &'static str,
    },
    /// The value exceeds the type or the allowed range.
    #[error("too large")]
    TooLarge,
}

impl QuantityProblem {
    pub(crate) fn unknown_unit(unit: &str) -> QuantityProblem {
        QuantityProblem::UnknownUnit(unit.chars().take(20).collect())
    }

    pub(crate) fn ambiguous(unit: &str, instead: &'static str) -> QuantityProblem {
        QuantityProblem::AmbiguousUnit {
            unit: unit.to_owned(),
            instead,
        }
    }
}
