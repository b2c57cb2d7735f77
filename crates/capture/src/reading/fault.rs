//! Violations that the headers of a packet show by themselves.

/// A violation, with the clause that it violates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The clause: "RFC 791, 3.1".
    pub clause: &'static str,
    /// The violation in a sentence without its full stop.
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
