//! Diagnosis of this machine, and of obstacles to a scenario's run.

mod machine;
mod obstacles;

use std::fmt;

use crate::error::Error;
use crate::network::Testbed;
use crate::request::Request;

pub use machine::{Check, Machine};

/// Diagnosis of this machine, and of a scenario's run on it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Diagnosis {
    /// The testbed works here, and the scenario can run.
    pub ready: bool,
    /// Findings on the machine.
    pub machine: Machine,
    /// Findings on the scenario, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<Suitability>,
}

/// Suitability of this machine for a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Suitability {
    /// Error that prevents a run, found by building the testbed without traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Reasons why a subflow would not be established, or late.
    pub subflows: Vec<String>,
}

impl Diagnosis {
    /// Whether a failed run of the scenario failed for another reason than this machine.
    pub fn can_run(&self) -> bool {
        let builds = |scenario: &Suitability| scenario.refused.is_none();
        self.machine.is_ready() && self.scenario.as_ref().is_none_or(builds)
    }
}

/// Examines the machine and, if given, a scenario: sets up all but the traffic in temporary
/// namespaces. Fails if the scenario is wrong.
pub fn doctor(request: Option<&Request>) -> Result<Diagnosis, Error> {
    let machine = Machine::examine();
    let scenario = match request {
        Some(request) => Some(request.parse()?),
        None => None,
    };
    let scenario = scenario.map(|scenario| Suitability {
        refused: Testbed::build(&scenario)
            .err()
            .map(|error| error.to_string()),
        subflows: obstacles::of(&scenario),
    });
    let suits = |scenario: &Suitability| scenario.refused.is_none() && scenario.subflows.is_empty();
    Ok(Diagnosis {
        ready: machine.is_ready() && scenario.as_ref().is_none_or(suits),
        machine,
        scenario,
    })
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Linux {}", self.machine.kernel)?;
        for check in &self.machine.checks {
            let mark = match (check.works, check.needed) {
                (true, _) => "yes",
                (false, true) => "NO",
                (false, false) => "no",
            };
            writeln!(f, "{mark:<4} {:<20} {}", check.name, check.detail)?;
        }
        let Some(scenario) = &self.scenario else {
            return Ok(());
        };
        if let Some(refused) = &scenario.refused {
            writeln!(f, "NO   the scenario: {refused}")?;
        } else {
            writeln!(f, "yes  the scenario can be built")?;
        }
        for obstacle in &scenario.subflows {
            writeln!(f, "NO   {obstacle}")?;
        }
        Ok(())
    }
}
