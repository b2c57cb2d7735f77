//! Why a text is no quantity.

/// What is wrong with a quantity, and what would do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; allowed: {allowed}")]
pub struct QuantityError {
    /// What is wrong.
    pub problem: QuantityProblem,
    /// What would do.
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
    /// Nothing but white space.
    #[error("must not be empty")]
    Empty,
    /// It does not begin with a decimal number ("nan" and "inf" do not).
    #[error("must begin with a number")]
    NotANumber,
    /// A minus sign.
    #[error("must not be negative")]
    Negative,
    /// A decimal comma.
    #[error("must have a decimal point, not a comma")]
    Comma,
    /// A bare number other than zero.
    #[error("must have a unit")]
    MissingUnit,
    /// A unit that nobody knows here.
    #[error("unknown unit {0:?}")]
    UnknownUnit(String),
    /// A unit that some read one way and some the other.
    #[error("unit {unit:?} means different things to different programs: write {instead}")]
    AmbiguousUnit {
        /// What stands there.
        unit: String,
        /// What to write instead.
        instead: &'static str,
    },
    /// Beyond what the type holds or the quantity may be.
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
