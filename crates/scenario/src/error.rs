//! What is wrong with a scenario: every error of a file at once, each with its place.

use std::fmt;

use ropewalk_network::TraceError;
use ropewalk_quantities::QuantityProblem;

use crate::frame_sizes::FrameSizesError;

/// All that is wrong with a scenario, in the order of the file; never empty.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Errors {
    /// The first of them, at most 50.
    pub errors: Vec<ScenarioError>,
    /// How many more there are.
    pub more: usize,
}

impl Errors {
    /// How many errors are kept.
    pub(crate) const KEPT: usize = 50;
}

/// One line for each error.
impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.errors.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{error}")?;
        }
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n... and {more} more"),
        }
    }
}

/// One thing wrong with a scenario.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct ScenarioError {
    /// Where.
    pub place: Position,
    /// The key, such as `link.wifi.delay`; empty if it is the file that is wrong.
    pub key: String,
    /// What stands there (its beginning), as TOML.
    pub value: Option<String>,
    /// What is wrong with it.
    pub problem: Problem,
    /// What would do.
    pub allowed: Option<String>,
    /// The nearest word that would do.
    pub suggestion: Option<String>,
}

/// `wifi.toml:7:1: link.wifi.delay = "-5 ms": must not be negative; allowed: a time such as "10 ms"`
impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.place)?;
        match (&self.key, &self.value) {
            (key, _) if key.is_empty() => {}
            (key, None) => write!(f, "{key}: ")?,
            (key, Some(value)) => write!(f, "{key} = {value}: ")?,
        }
        write!(f, "{}", self.problem)?;
        if let Some(allowed) = &self.allowed {
            write!(f, "; allowed: {allowed}")?;
        }
        if let Some(suggestion) = &self.suggestion {
            write!(f, "; did you mean {suggestion:?}?")?;
        }
        Ok(())
    }
}

/// Where an error is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// In the scenario file.
    File {
        /// What the caller calls it.
        name: String,
        /// Counted from 1.
        line: usize,
        /// In characters, counted from 1.
        column: usize,
    },
    /// The scenario file as a whole.
    WholeFile {
        /// What the caller calls it.
        name: String,
    },
    /// In an override (`--set`).
    Override,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::File { name, line, column } => write!(f, "{name}:{line}:{column}"),
            Position::WholeFile { name } => write!(f, "{name}"),
            Position::Override => write!(f, "--set"),
        }
    }
}

/// What is wrong at one place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The file is too large to be a scenario.
    #[error("larger than {most}, too large for a scenario")]
    FileTooLarge {
        /// The limit.
        most: &'static str,
    },
    /// The file is not text: not UTF-8, or with NUL characters.
    #[error("not a text file in UTF-8")]
    NotText,
    /// The file is not TOML; in the TOML parser's words.
    #[error("not TOML: {0}")]
    Syntax(String),
    /// A key that nobody knows there.
    #[error("unknown key")]
    UnknownKey,
    /// An override of a key inside of a plain value.
    #[error("is inside of a value that is no table")]
    NotATable,
    /// An override of a whole link, path or competitor.
    #[error("must name one of its keys")]
    IncompleteKey,
    /// An override of a flow that the file does not have: its flows have entries of their own.
    #[error("the file has neither [transport] nor [traffic], but flows of their own")]
    NoShortForm,
    /// A value of the wrong type.
    #[error("must not be {found}")]
    WrongType {
        /// The type that stands there, with its article.
        found: &'static str,
    },
    /// A parameter that an algorithm has not.
    #[error("unknown parameter of {0}")]
    UnknownParameter(&'static str),
    /// A word that nobody knows there.
    #[error("unknown value")]
    UnknownWord,
    /// No quantity, or one beyond its limits.
    #[error(transparent)]
    Quantity(QuantityProblem),
    /// Less than the least.
    #[error("must be at least {0}")]
    BelowLeast(String),
    /// More than the most.
    #[error("must be at most {0}")]
    AboveMost(String),
    /// Not less than another key's value.
    #[error("must be less than {0}")]
    NotBelow(String),
    /// Zero where it makes no sense.
    #[error("must be greater than zero")]
    NotPositive,
    /// Infinite, or not a number at all.
    #[error("must be a finite number")]
    NotFinite,
    /// A count with a fraction.
    #[error("must be a whole number")]
    NotWhole,
    /// A key that must be given.
    #[error("missing")]
    Missing,
    /// None of several keys, one of which must be given.
    #[error("needs {}", one_of(.0))]
    NeedsOne(&'static [&'static str]),
    /// A key that excludes another one that is given, too.
    #[error("cannot be given together with {0:?}")]
    Excluded(&'static str),
    /// A key or value that needs another key to have a certain value.
    #[error("only with {0}")]
    OnlyWith(&'static str),
    /// A name that is taken.
    #[error("another {0} has the same name")]
    Duplicate(&'static str),
    /// An entry that a list already has.
    #[error("{0:?} stands there twice")]
    Twice(String),
    /// A name that nothing has.
    #[error("no {what} is called {name:?}")]
    UnknownName {
        /// What it should name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Datagrams that nothing holds back.
    #[error("bulk datagrams leave as fast as their first link sends, and {0:?} is unlimited")]
    EndlessDatagrams(String),
    /// A node without a radio on a channel.
    #[error("{node:?} has no radio on {channel:?}")]
    NoRadio {
        /// The node.
        node: String,
        /// The channel.
        channel: String,
    },
    /// A rate that a standard has not.
    #[error("{rate} is no rate of {standard}")]
    RateOfAnother {
        /// The rate.
        rate: String,
        /// The standard.
        standard: &'static str,
    },
    /// Two radios of a channel at one place, where power goes by distance.
    #[error("is where {0:?} is: at 0 m no formula gives a loss")]
    SamePlace(String),
    /// Something that does not go with something else, in words.
    #[error("{0}")]
    Unfit(String),
    /// A file that is not what it should be, in words.
    #[error("{file}: {what}")]
    File {
        /// Its name.
        file: String,
        /// What is wrong with it.
        what: String,
    },
    /// A link from a node to itself, or a flow.
    #[error("must be another node than from")]
    SameNode,
    /// A link of a path that does not begin where the one before it ends.
    #[error("{0:?} does not begin where the link before it ends")]
    Apart(String),
    /// Nodes between which no links lead.
    #[error("no links lead there from {0:?}")]
    NoWay(String),
    /// A name that would make overrides and results ambiguous.
    #[error("not a name")]
    BadName,
    /// An empty list, or none.
    #[error("must not be empty")]
    Empty,
    /// A list beyond its limit.
    #[error("must have at most {0} entries")]
    TooMany(usize),
    /// An outage without a beginning and an end.
    #[error("each outage must be a pair of times")]
    NotAPair,
    /// An outage that ends before it begins.
    #[error("an outage must end after it begins")]
    EmptyOutage,
    /// Outages that overlap.
    #[error("outages must not overlap")]
    Overlap,
    /// The trace file could not be read; in the caller's words.
    #[error("cannot be read: {0}")]
    TraceUnreadable(String),
    /// The trace file is beyond its limits.
    #[error("larger than {0}, too large for a trace")]
    TraceTooLarge(&'static str),
    /// The trace file is not in mahimahi's format.
    #[error("{0}")]
    Trace(TraceError),
    /// The file is none of frame sizes.
    #[error("{0}")]
    FrameSizes(FrameSizesError),
}

/// `"rate", "trace" or "channel"`
fn one_of(keys: &[&str]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
