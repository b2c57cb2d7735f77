//! Errors of a scenario, all at once, with their positions.

use std::fmt;

use ropewalk_network::TraceError;
use ropewalk_quantities::QuantityProblem;

use crate::frame_sizes::FrameSizesError;

/// All errors of a scenario, in file order; never empty.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct Errors {
    /// The first errors, at most 50.
    pub errors: Vec<ScenarioError>,
    /// Number of further errors.
    pub more: usize,
}

impl Errors {
    pub(crate) const KEPT: usize = 50;
}

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
    /// Position.
    pub place: Position,
    /// Key, such as `link.wifi.delay`; empty for an error of the whole file.
    pub key: String,
    /// Beginning of the value in the file, in TOML.
    pub value: Option<String>,
    /// Violation.
    pub problem: Problem,
    /// Allowed values.
    pub allowed: Option<String>,
    /// Closest allowed word.
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

/// Position of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    /// In the scenario file.
    File {
        /// File name of the caller.
        name: String,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
    },
    /// The file as a whole.
    WholeFile {
        /// File name of the caller.
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

/// Violation of a constraint.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The file is too large.
    #[error("larger than {most}, too large for a scenario")]
    FileTooLarge {
        /// Limit.
        most: &'static str,
    },
    /// The file is not UTF-8, or has NUL characters.
    #[error("not a text file in UTF-8")]
    NotText,
    /// The file is not TOML; message of the TOML parser.
    #[error("not TOML: {0}")]
    Syntax(String),
    /// The table has no such key.
    #[error("unknown key")]
    UnknownKey,
    /// The override names a key inside a value that is not a table.
    #[error("is inside a value that is not a table")]
    NotATable,
    /// The override names a whole link, path or competitor.
    #[error("must name one of its keys")]
    IncompleteKey,
    /// The override names the short form of a flow in a file with `[[flow]]` entries.
    #[error("the file has [[flow]] entries in place of [transport] and [traffic]")]
    NoShortForm,
    /// The value has the wrong type.
    #[error("must not be {found}")]
    WrongType {
        /// Type of the value, with its article.
        found: &'static str,
    },
    /// The algorithm has no such parameter.
    #[error("unknown parameter of {0}")]
    UnknownParameter(&'static str),
    /// The word is not allowed.
    #[error("unknown value")]
    UnknownWord,
    /// The value is no quantity, or out of range.
    #[error(transparent)]
    Quantity(QuantityProblem),
    /// The number may be a percentage or a fraction.
    #[error("must have a unit, such as {percentage:?}{}", or_share(.share))]
    NoPercentage {
        /// The number as a percentage.
        percentage: String,
        /// The number read as a fraction, in percent; `None` above 1.
        share: Option<String>,
    },
    /// The value is below the minimum.
    #[error("must be at least {0}")]
    BelowLeast(String),
    /// The value is above the maximum.
    #[error("must be at most {0}")]
    AboveMost(String),
    /// The value must be below another key's.
    #[error("must be less than {0}")]
    NotBelow(String),
    /// The value must be positive.
    #[error("must be greater than zero")]
    NotPositive,
    /// The value is infinite or NaN.
    #[error("must be a finite number")]
    NotFinite,
    /// The count is not a whole number.
    #[error("must be a whole number")]
    NotWhole,
    /// The key is required.
    #[error("missing")]
    Missing,
    /// One of these keys is required.
    #[error("needs {}", one_of(.0))]
    NeedsOne(&'static [&'static str]),
    /// The key excludes this one.
    #[error("cannot be given together with {0:?}")]
    Excluded(&'static str),
    /// The key or value requires a certain value of another key.
    #[error("only with {0}")]
    OnlyWith(&'static str),
    /// The name is taken.
    #[error("another {0} has the same name")]
    Duplicate(&'static str),
    /// The list has the entry already.
    #[error("{0:?} is listed twice")]
    Repeated(String),
    /// The name does not exist.
    #[error("no {what} is called {name:?}")]
    UnknownName {
        /// Kind of the named object.
        what: &'static str,
        /// Name.
        name: String,
    },
    /// Datagrams have no rate limit.
    #[error("bulk datagrams are sent at the rate of their first link, but {0:?} is unlimited")]
    EndlessDatagrams(String),
    /// The node has no radio on the channel.
    #[error("{node:?} has no radio on {channel:?}")]
    NoRadio {
        /// Node name.
        node: String,
        /// Channel name.
        channel: String,
    },
    /// The 802.11 standard does not have the rate.
    #[error("{rate} is no rate of {standard}")]
    RateOfOtherStandard {
        /// Rate.
        rate: String,
        /// Standard.
        standard: &'static str,
    },
    /// Two radios of a channel have the same position, where the received power depends on
    /// distance.
    #[error("has the position of {0:?}: loss formulas need a distance above 0 m")]
    SamePosition(String),
    /// Two settings cannot be combined; message.
    #[error("{0}")]
    Incompatible(String),
    /// The content of a referenced file is invalid.
    #[error("{file}: {what}")]
    File {
        /// File name.
        file: String,
        /// Message.
        what: String,
    },
    /// A link or flow has the same node at both ends.
    #[error("must be another node than `from`")]
    SameNode,
    /// A link of a path does not begin at the end of its predecessor.
    #[error("{0:?} does not begin where the link before it ends")]
    NotConnected(String),
    /// No links connect the two nodes.
    #[error("no links connect it with {0:?}")]
    Unreachable(String),
    /// The name would make overrides and results ambiguous.
    #[error("not a name")]
    BadName,
    /// The list is empty, or not a list.
    #[error("must not be empty")]
    Empty,
    /// The list has more elements than this.
    #[error("must have at most {0} entries")]
    TooMany(usize),
    /// The outage is not a pair of times.
    #[error("each outage must be a pair of times")]
    NotAPair,
    /// The outage ends before it begins.
    #[error("an outage must end after it begins")]
    EmptyOutage,
    /// Outages overlap.
    #[error("outages must not overlap")]
    Overlap,
    /// The trace file could not be read; message of the caller.
    #[error("cannot be read: {0}")]
    TraceUnreadable(String),
    /// The trace file is too large.
    #[error("larger than {0}, too large for a trace")]
    TraceTooLarge(&'static str),
    /// The trace file is not in the format of its key.
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

fn one_of(keys: &[&str]) -> String {
    let quoted: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
