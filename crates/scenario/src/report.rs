//! Collects errors and warnings, and turns byte offsets into lines.

use crate::document::Origin;
use crate::error::{Errors, Position, Problem, ScenarioError};

/// The number of errors that are kept while collecting; further ones are only counted.
const MAX: usize = 1_000;

/// What has been found so far.
pub(crate) struct Report<'a> {
    name: &'a str,
    text: &'a str,
    /// Their positions are filled in at the end.
    errors: Vec<(At, ScenarioError)>,
    more: usize,
    /// Errors beyond the limit are written here and dropped.
    scratch: ScenarioError,
    pub warnings: Vec<String>,
}

/// In the order in which errors are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    WholeFile,
    Offset(usize),
    Override,
}

impl<'a> Report<'a> {
    /// An empty report on this file.
    pub fn new(name: &'a str, text: &'a str) -> Report<'a> {
        Report {
            name,
            text,
            errors: Vec::new(),
            more: 0,
            scratch: blank("", Problem::UnknownKey),
            warnings: Vec::new(),
        }
    }

    /// Adds an error at a position.
    pub fn error(&mut self, origin: Origin, key: &str, problem: Problem) -> &mut ScenarioError {
        match origin {
            Origin::File(offset) => self.push(At::Offset(offset), key, problem),
            Origin::Override => self.push(At::Override, key, problem),
        }
    }

    /// Adds an error of the file as a whole.
    pub fn whole_file(&mut self, key: &str, problem: Problem) -> &mut ScenarioError {
        self.push(At::WholeFile, key, problem)
    }

    /// Whether there is no error so far.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Whether there are so many errors that looking for more is useless.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX
    }

    /// The warnings, or all errors if there are any.
    pub fn finish(mut self) -> Result<Vec<String>, Errors> {
        if self.errors.is_empty() {
            return Ok(self.warnings);
        }
        self.errors.sort_by_key(|(at, _)| *at);
        // An error in a setting that all radios share was found once for each of them.
        self.errors.dedup();
        let more = self.more + self.errors.len().saturating_sub(Errors::KEPT);
        self.errors.truncate(Errors::KEPT);
        let errors = std::mem::take(&mut self.errors);
        let placed = errors.into_iter().map(|(at, mut error)| {
            error.place = self.place(at);
            error
        });
        Err(Errors {
            errors: placed.collect(),
            more,
        })
    }

    fn push(&mut self, at: At, key: &str, problem: Problem) -> &mut ScenarioError {
        if self.is_full() {
            self.more += 1;
            return &mut self.scratch;
        }
        let index = self.errors.len();
        self.errors.push((at, blank(key, problem)));
        &mut self.errors[index].1
    }

    fn place(&self, at: At) -> Position {
        let name = self.name.to_owned();
        let offset = match at {
            At::WholeFile => return Position::WholeFile { name },
            At::Override => return Position::Override,
            At::Offset(offset) => offset,
        };
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position::File {
            name,
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

fn blank(key: &str, problem: Problem) -> ScenarioError {
    ScenarioError {
        place: Position::Override,
        key: key.to_owned(),
        value: None,
        problem,
        allowed: None,
        suggestion: None,
    }
}
