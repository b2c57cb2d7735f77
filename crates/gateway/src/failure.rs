//! Errors that end a verb, with their exit status.

#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Wrong input: exit status 2.
    #[error("{0}")]
    Input(String),
    /// Right input, but failed execution: exit status 1.
    #[error("{0}")]
    Run(String),
}

impl Failure {
    /// Returns the failure of wrong input.
    pub fn input(text: impl ToString) -> Failure {
        Failure::Input(text.to_string())
    }

    /// Returns the failure of an execution.
    pub fn run(text: impl ToString) -> Failure {
        Failure::Run(text.to_string())
    }

    /// Returns 2 if the input is wrong, else 1.
    pub fn exit_status(&self) -> u8 {
        match self {
            Failure::Input(_) => 2,
            Failure::Run(_) => 1,
        }
    }
}
