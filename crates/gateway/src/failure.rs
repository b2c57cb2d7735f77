//! Errors that end a verb, and their exit status.

/// Why a verb ended, as one line.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The input is wrong: exit status 2.
    #[error("{0}")]
    Input(String),
    /// The input is right, but execution failed: exit status 1.
    #[error("{0}")]
    Run(String),
}

impl Failure {
    /// The input is wrong.
    pub fn input(text: impl ToString) -> Failure {
        Failure::Input(text.to_string())
    }

    /// It could not be done.
    pub fn run(text: impl ToString) -> Failure {
        Failure::Run(text.to_string())
    }

    /// 2 if the input is wrong, else 1.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Input(_) => 2,
            Failure::Run(_) => 1,
        }
    }
}
