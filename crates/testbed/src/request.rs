//! What a run is asked for: the text of a scenario, and what is not in it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;

use crate::error::Error;

/// How many steps a timeline may have.
const MOST_STEPS: u64 = 1_000_000;

/// A run, as whoever starts the process says it (JSON).
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The scenario file's text.
    pub scenario: String,
    /// What errors call the file; its stem is the default title.
    pub name: String,
    /// Keys set to other values, as `--set` has them.
    #[serde(default)]
    pub overrides: Vec<(String, String)>,
    /// Texts of the trace files, by the names that the scenario has for them.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Links and traffic draw from streams of this seed, as the simulator's do.
    pub seed: u64,
    /// A row of the timeline each, such as `"100 ms"`; none without.
    #[serde(default)]
    pub step: Option<String>,
    /// Give the histogram of delays, too.
    #[serde(default)]
    pub histogram: bool,
    /// What carries the packets.
    #[serde(default)]
    pub emulator: EmulatorKind,
    /// A congestion control by the kernel's own name, in place of the scenario's: one that
    /// scenarios do not have, such as `bbr`.
    #[serde(default)]
    pub kernel_congestion: Option<String>,
    /// A capture of the run; its ending (`.pcapng`, `.pcap`) says the format.
    #[serde(default)]
    pub capture: Option<PathBuf>,
    /// Where it is taken: `sender` (without any), `receiver`, or a link's name.
    #[serde(default)]
    pub capture_at: Option<String>,
}

/// What carries the packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EmulatorKind {
    /// Our own links, those of the simulator.
    #[default]
    Own,
    /// The kernel's netem, where it has it.
    Netem,
}

impl Request {
    /// # Errors
    /// Everything that is wrong with the scenario.
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
    /// No time, or so short a one that the timeline would fill the memory.
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
        if step == Time::ZERO || duration.as_nanos() / step.as_nanos() > MOST_STEPS {
            return Err(refuse(format!(
                "more than {MOST_STEPS} steps in {duration}"
            )));
        }
        Ok(Some(step))
    }
}
