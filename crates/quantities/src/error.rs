//! Why a text is not a quantity.

/// What is wrong with a quantity, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; allowed: {allowed}")]
pub struct QuantityError {
    /// What is wrong.
    pub problem: QuantityProblem,
    /// What is allowed.
    pub allowed: &'static str,
}

impl QuantityError {
    pub(crate) fn new(problem: QuantityProblem, allowed: &'static str) -> QuantityError {
        QuantityError { problem, allowed }
    }
}

/// What is wrong with a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuantityProblem {
    /// The text is empty, or only white space.
    #[error("must not be empty")]
    Empty,
    /// It does not begin with a decimal number ("nan" and "inf" do not).
    #[error("must begin with a number")]
    NotANumber,
    /// A minus sign.
    #[error("must not be negative")]
    Negative,
    /// It has a decimal comma.
    #[error("must have a decimal point, not a comma")]
    Comma,
    /// A bare number other than zero.
    #[error("must have a unit")]
    MissingUnit,
    /// An unknown unit.
    #[error("unknown unit {0:?}")]
    UnknownUnit(String),
    /// A unit whose meaning differs between programs.
    #[error("unit {unit:?} means different things to different programs: write {instead}")]
    AmbiguousUnit {
        /// The unit.
        unit: String,
        /// What to write instead.
        instead: &'static str,
    },
    /// It exceeds the type or the allowed range.
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
