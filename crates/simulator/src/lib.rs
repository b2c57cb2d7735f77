//! The simulator: a scenario, packet by packet, in virtual time.

mod outcome;

pub use outcome::{
    CompetitorSummary, ConnectionTimeline, DelayBin, DelaySummary, LinkSummary, Outcome,
    Reordering, ReorderingMetrics, Stats, SubflowSummary, SubflowTimeline, Summary, Timeline,
};

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

/// What a run records besides its summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Record a timeline with this step.
    pub timeline_step: Option<Time>,
    /// Record RFC 4737 and RFC 5236 metrics.
    pub reordering: bool,
}

/// Runs a scenario once.
///
/// The same scenario, seed and options give the same outcome, bit for bit.
///
/// # Errors
/// The scenario asks for what the simulator does not have (yet); the text says what.
pub fn simulate(
    _scenario: &Scenario,
    _seed: u64,
    _options: &Options,
) -> Result<Outcome, Unsupported> {
    unreachable!("filled in before the first landing")
}

/// A scenario asks for something that the simulator does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value:?} is not simulated; allowed here: {allowed}")]
pub struct Unsupported {
    /// The scenario's key.
    pub key: String,
    /// What stands there.
    pub value: String,
    /// What would do.
    pub allowed: String,
}
