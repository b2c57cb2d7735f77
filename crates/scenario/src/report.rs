//! Errors and warnings as they are found, with byte offsets turned into lines.

use crate::document::Origin;
use crate::error::{Errors, Position, Problem, ScenarioError};

/// Errors that are looked at; beyond them they are only counted.
const MOST: usize = 1_000;

/// What has been found so far.
pub(crate) struct Report<'a> {
    name: &'a str,
    text: &'a str,
    /// With places still to be filled in.
    errors: Vec<(At, ScenarioError)>,
    more: usize,
    /// Takes what is written into errors beyond the limit.
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
    /// Nothing yet, about this file.
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

    /// An error at a place.
    pub fn error(&mut self, origin: Origin, key: &str, problem: Problem) -> &mut ScenarioError {
        match origin {
            Origin::File(offset) => self.push(At::Offset(offset), key, problem),
            Origin::Override => self.push(At::Override, key, problem),
        }
    }

    /// An error of the file as a whole.
    pub fn whole_file(&mut self, key: &str, problem: Problem) -> &mut ScenarioError {
        self.push(At::WholeFile, key, problem)
    }

    /// Whether nothing is wrong so far.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Whether it is a waste to look for more errors.
    pub fn is_full(&self) -> bool {
        self.errors.len() >= MOST
    }

    /// The warnings, or all errors if there are any.
    pub fn finish(mut self) -> Result<Vec<String>, Errors> {
        if self.errors.is_empty() {
            return Ok(self.warnings);
        }
        self.errors.sort_by_key(|(at, _)| *at);
        // What is said of all radios at one place is wrong with each.
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
