//! Violations by single packets' headers.

/// A violation with its clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Clause, such as "RFC 791, 3.1".
    pub clause: &'static str,
    /// Description: a sentence without full stop.
    pub text: String,
}

impl Fault {
    pub(super) fn new(clause: &'static str, text: impl Into<String>) -> Fault {
        Fault {
            clause,
            text: text.into(),
        }
    }
}
