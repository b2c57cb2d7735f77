//! Request for a run: a scenario's text and further settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

use crate::error::Error;

const MAX_STEPS: u64 = 1_000_000;

/// Request for a run, written by the parent process as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Text of the scenario file.
    pub scenario: String,
    /// File name in error messages; its stem is the default title.
    pub name: String,
    /// Overrides of keys, as for `--set`.
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// Text of each trace file, by its name in the scenario.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Seed of the random streams of links and traffic, as in the simulator.
    pub seed: u64,
    /// Step of the timeline, such as `"100 ms"`; `None`: no timeline.
    #[serde(default)]
    pub step: Option<String>,
    /// Include the histogram of delays in the report.
    #[serde(default)]
    pub histogram: bool,
    /// Emulator of the links.
    #[serde(default)]
    pub emulator: EmulatorKind,
    /// Congestion control by the kernel's name in place of the scenario's, including ones that
    /// scenarios do not have, such as `bbr`.
    #[serde(default)]
    pub kernel_congestion: Option<String>,
    /// Capture file; its extension (`.pcapng`, `.pcap`) selects the format.
    #[serde(default)]
    pub capture: Option<PathBuf>,
    /// Observation point: `sender` (default), `receiver`, or a link's name.
    #[serde(default)]
    pub capture_at: Option<String>,
}

/// Emulator of the links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmulatorKind {
    /// The testbed's own links, equal to the simulator's.
    #[default]
    Own,
    /// The kernel's netem.
    Netem,
}

pub(crate) fn parse(
    text: &str,
    name: &str,
    overrides: &[(String, String)],
    files: &BTreeMap<String, String>,
) -> Result<Scenario, Error> {
    let mut read = |name: &str| {
        let text = files.get(name).cloned();
        text.ok_or_else(|| "its text was not handed over".to_owned())
    };
    Ok(Scenario::parse(text, name, overrides, &mut read)?)
}

impl Request {
    pub(crate) fn parse(&self) -> Result<Scenario, Error> {
        parse(&self.scenario, &self.name, &self.overrides, &self.files)
    }

    /// Step of the timeline. Fails if it is no time, or too short for the timeline's largest number
    /// of steps.
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
