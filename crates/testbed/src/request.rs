//! The request for a run: the text of a scenario, and settings that are not in it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

use crate::error::Error;

/// The highest number of steps of a timeline.
const MAX_STEPS: u64 = 1_000_000;

/// The request for a run, as the parent process writes it (JSON).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The scenario file's text.
    pub scenario: String,
    /// The file's name in error messages; its stem is the default title.
    pub name: String,
    /// Overrides of keys, as for `--set`.
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// The text of each trace file, by its name in the scenario.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The seed of the random streams of links and traffic, as in the simulator.
    pub seed: u64,
    /// The step of the timeline, such as `"100 ms"`; without it, there is no timeline.
    #[serde(default)]
    pub step: Option<String>,
    /// Whether the report has the histogram of delays.
    #[serde(default)]
    pub histogram: bool,
    /// What carries the packets.
    #[serde(default)]
    pub emulator: EmulatorKind,
    /// A congestion control by the kernel's own name, in place of the scenario's. It may be one that
    /// scenarios do not have, such as `bbr`.
    #[serde(default)]
    pub kernel_congestion: Option<String>,
    /// The file of a capture; its ending (`.pcapng`, `.pcap`) selects the format.
    #[serde(default)]
    pub capture: Option<PathBuf>,
    /// The observation point: `sender` (the default), `receiver`, or a link's name.
    #[serde(default)]
    pub capture_at: Option<String>,
}

/// What carries the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmulatorKind {
    /// The testbed's own links, which are those of the simulator.
    #[default]
    Own,
    /// The kernel's netem, if it has that.
    Netem,
}

impl Request {
    /// # Errors
    /// All errors of the scenario.
    pub(crate) fn parse(&self) -> Result<Scenario, Error> {
        let mut read = |name: &str| {
            let text = self.files.get(name).cloned();
            text.ok_or_else(|| "its text was not handed over".to_owned())
        };
        Ok(Scenario::parse(
            &self.scenario,
            &self.name,
            &self.overrides,
            &mut read,
        )?)
    }

    /// The timeline's step.
    ///
    /// # Errors
    /// It is no time, or so short that the timeline would fill the memory.
    pub(crate) fn timeline_step(&self, duration: Time) -> Result<Option<Time>, Error> {
        let Some(text) = &self.step else {
            return Ok(None);
        };
        let refuse = |reason: String| Error::Unsupported {
            key: "step".to_owned(),
            value: format!("{text:?}"),
            reason,
            allowed: "a time such as \"100 ms\"".to_owned(),
        };
        let step: Time = text.parse().map_err(|error| refuse(format!("{error}")))?;
        if step == Time::ZERO {
            return Err(refuse("must be greater than zero".to_owned()));
        }
        if duration.as_nanos() / step.as_nanos() > MAX_STEPS {
            return Err(refuse(format!("more than {MAX_STEPS} steps in {duration}")));
        }
        Ok(Some(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_refused_with_what_is_wrong() {
        for (step, reason) in [
            ("0s", "must be greater than zero"),
            ("1 us", "more than 1000000 steps in 30 s"),
            ("soon", "must begin with a number"),
        ] {
            let request = Request {
                step: Some(step.to_owned()),
                ..Request::default()
            };
            let refused = request.timeline_step(Time::from_secs(30));
            let told = refused.expect_err("a wrong step").to_string();
            assert!(told.contains(reason), "{told}");
        }
    }
}
