//! Errors of a scenario: all of a file's at once, each with its position.

use std::fmt;

use ropewalk_network::TraceError;
use ropewalk_quantities::QuantityProblem;

use crate::frame_sizes::FrameSizesError;

/// All errors of a scenario, in the order of the file; never empty.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Errors {
    /// The first errors, at most 50.
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

/// One error of a scenario.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct ScenarioError {
    /// Where it is.
    pub place: Position,
    /// The key, such as `link.wifi.delay`; empty if the error is of the whole file.
    pub key: String,
    /// The beginning of the value in the file, as TOML.
    pub value: Option<String>,
    /// What is wrong with it.
    pub problem: Problem,
    /// What would be allowed.
    pub allowed: Option<String>,
    /// The nearest allowed word.
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
        /// The file's name, as the caller gave it.
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

/// What is wrong with a key or a value.
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
    /// A key that this table does not have.
    #[error("unknown key")]
    UnknownKey,
    /// An override of a key inside a value that is not a table.
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
        /// The type of the value in the file, with its article.
        found: &'static str,
    },
    /// A parameter that the algorithm does not have.
    #[error("unknown parameter of {0}")]
    UnknownParameter(&'static str),
    /// A word that is not one of those allowed.
    #[error("unknown value")]
    UnknownWord,
    /// Not a quantity, or one outside its limits.
    #[error(transparent)]
    Quantity(QuantityProblem),
    /// A number that may be a percentage, or a share of 1.
    #[error("must have a unit, such as {percentage:?}{}", or_share(.share))]
    NoPercentage {
        /// The number as a percentage.
        percentage: String,
        /// The percentage that it is as a share of 1; `None` above 1.
        share: Option<String>,
    },
    /// Less than the minimum.
    #[error("must be at least {0}")]
    BelowLeast(String),
    /// More than the maximum.
    #[error("must be at most {0}")]
    AboveMost(String),
    /// Not less than another key's value.
    #[error("must be less than {0}")]
    NotBelow(String),
    /// Zero where only a positive value makes sense.
    #[error("must be greater than zero")]
    NotPositive,
    /// Infinite, or not a number (NaN).
    #[error("must be a finite number")]
    NotFinite,
    /// A count with a fraction.
    #[error("must be a whole number")]
    NotWhole,
    /// A key that must be given.
    #[error("missing")]
    Missing,
    /// One of these keys must be given, and none is.
    #[error("needs {}", one_of(.0))]
    NeedsOne(&'static [&'static str]),
    /// A key that cannot be given together with this one.
    #[error("cannot be given together with {0:?}")]
    Excluded(&'static str),
    /// A key or value that needs another key to have a certain value.
    #[error("only with {0}")]
    OnlyWith(&'static str),
    /// A name that is already taken.
    #[error("another {0} has the same name")]
    Duplicate(&'static str),
    /// An entry that the list already has.
    #[error("{0:?} stands there twice")]
    Twice(String),
    /// A reference to a name that does not exist.
    #[error("no {what} is called {name:?}")]
    UnknownName {
        /// What the name should refer to.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Datagrams sent without a limit: nothing paces them.
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
    /// A rate that the 802.11 standard does not have.
    #[error("{rate} is no rate of {standard}")]
    RateOfAnother {
        /// The rate.
        rate: String,
        /// The standard.
        standard: &'static str,
    },
    /// Two radios of a channel at the same position, where the received power depends on distance.
    #[error("is where {0:?} is: at 0 m no formula gives a loss")]
    SamePlace(String),
    /// Two settings that cannot be combined, in words.
    #[error("{0}")]
    Unfit(String),
    /// A referenced file with wrong content, in words.
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
    /// A link of a path that does not begin at the node where the one before it ends.
    #[error("{0:?} does not begin where the link before it ends")]
    Apart(String),
    /// Two nodes that no links connect.
    #[error("no links lead there from {0:?}")]
    NoWay(String),
    /// A name that would make overrides and results ambiguous.
    #[error("not a name")]
    BadName,
    /// A list without elements, or no list.
    #[error("must not be empty")]
    Empty,
    /// A list with more elements than this.
    #[error("must have at most {0} entries")]
    TooMany(usize),
    /// An outage that is not a pair of a beginning and an end.
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
    /// The trace file is larger than allowed.
    #[error("larger than {0}, too large for a trace")]
    TraceTooLarge(&'static str),
    /// The trace file is not in mahimahi's format.
    #[error("{0}")]
    Trace(TraceError),
    /// The file is not a list of frame sizes.
    #[error("{0}")]
    FrameSizes(FrameSizesError),
}

fn or_share(share: &Option<String>) -> String {
    let share = share.as_ref();
    share.map_or_else(String::new, |share| format!(" or {share:?}"))
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
