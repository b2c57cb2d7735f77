//! Errors and warnings of a file, with byte offsets resolved to lines.

use crate::document::Origin;
use crate::error::{Errors, Position, Problem, ScenarioError};

const MAX: usize = 1_000;

pub(crate) struct Report<'a> {
    name: &'a str,
    text: &'a str,
    errors: Vec<(At, ScenarioError)>,
    more: usize,
    /// Receives errors beyond the limit, which are dropped.
    scratch: ScenarioError,
    pub warnings: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum At {
    WholeFile,
    Offset(usize),
    Override,
}

impl<'a> Report<'a> {
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

    pub fn error(&mut self, origin: Origin, key: &str, problem: Problem) -> &mut ScenarioError {
        match origin {
            Origin::File(offset) => self.push(At::Offset(offset), key, problem),
            Origin::Override => self.push(At::Override, key, problem),
        }
    }

    /// Adds an error of the whole file.
    pub fn whole_file(&mut self, key: &str, problem: Problem) -> &mut ScenarioError {
        self.push(At::WholeFile, key, problem)
    }

    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Whether the error limit is reached.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MAX
    }

    /// Returns the warnings, or all errors if there are any.
    pub fn finish(mut self) -> Result<Vec<String>, Errors> {
        if self.errors.is_empty() {
            return Ok(self.warnings);
        }
        self.errors.sort_by_key(|(at, _)| *at);
        // An error in a setting shared by all radios was found once per radio.
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
