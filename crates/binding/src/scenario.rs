//! A parsed and checked scenario.

use std::sync::Arc;

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use ropewalk_network::stream;
use ropewalk_quantities::Rate;
use ropewalk_simulator::MessageSchedule;

use crate::ScenarioError;

/// A parsed and checked scenario.
///
/// `read` is called with the path of each further file that the scenario names; an exception
/// becomes one of the scenario's errors.
#[pyclass(frozen, module = "ropewalk._core")]
pub struct Scenario {
    pub(crate) parsed: Arc<ropewalk_scenario::Scenario>,
}

#[pymethods]
impl Scenario {
    #[new]
    fn new(
        text: &str,
        name: &str,
        overrides: Vec<(String, String)>,
        read: &Bound<'_, PyAny>,
    ) -> PyResult<Scenario> {
        let mut interrupt = None;
        let mut read = |path: &str| {
            let text = read.call1((path,)).and_then(|text| text.extract());
            text.map_err(|error: PyErr| {
                let message = error.value(read.py()).to_string();
                if !error.is_instance_of::<PyException>(read.py()) {
                    interrupt = Some(error);
                }
                message
            })
        };
        let parsed = ropewalk_scenario::Scenario::parse(text, name, &overrides, &mut read);
        if let Some(error) = interrupt {
            return Err(error);
        }
        match parsed {
            Ok(parsed) => Ok(Scenario {
                parsed: Arc::new(parsed),
            }),
            Err(errors) => Err(ScenarioError::new_err(errors.to_string())),
        }
    }

    /// Title.
    #[getter]
    fn title(&self) -> &str {
        &self.parsed.title
    }

    /// Latest end of a run, in seconds.
    #[getter]
    fn duration_s(&self) -> f64 {
        self.parsed.duration.as_secs_f64()
    }

    /// Start of measurements, in seconds.
    #[getter]
    fn warmup_s(&self) -> f64 {
        self.parsed.warmup.as_secs_f64()
    }

    /// Names of links.
    #[getter]
    fn links(&self) -> Vec<&str> {
        self.parsed.links.iter().map(|l| l.name.as_str()).collect()
    }

    /// Forward rates of links, a trace's mean; None: unlimited.
    #[getter]
    fn link_rates_mbps(&self) -> Vec<Option<f64>> {
        let rates = self
            .parsed
            .links
            .iter()
            .map(|l| l.forward.capacity.mean_rate());
        rates.map(|rate| rate.map(Rate::as_mbps)).collect()
    }

    /// Names of paths.
    #[getter]
    fn paths(&self) -> Vec<&str> {
        self.parsed.paths.iter().map(|p| p.name.as_str()).collect()
    }

    /// Links of each path, as indices into `links`.
    #[getter]
    fn path_hops(&self) -> Vec<Vec<usize>> {
        self.parsed.paths.iter().map(|p| p.hops.clone()).collect()
    }

    /// Paths of the first flow's first connection, as indices into `paths`.
    #[getter]
    fn transport_paths(&self) -> Vec<usize> {
        self.parsed.measured_flow().instance(0).paths
    }

    /// Names of flows in results, each entry once.
    #[getter]
    fn flows(&self) -> Vec<&str> {
        self.parsed.flows.iter().map(|f| f.name.as_str()).collect()
    }

    /// Prefix of the first flow's keys: `transport` or `flow.NAME`.
    #[getter]
    fn transport_key(&self) -> String {
        let first = self.parsed.measured_flow();
        let key = first.key("");
        key.trim_end_matches('.').to_owned()
    }

    /// Times (seconds) and bytes of the first `most` application writes of the first flow with this
    /// seed; None for a bulk transfer.
    fn writes(&self, seed: u64, most: usize) -> Option<(Vec<f64>, Vec<u64>)> {
        let (flow, end) = (self.parsed.measured_flow(), self.parsed.duration);
        let random = stream(seed, &format!("{}/traffic", flow.stream(0)));
        let mut schedule = MessageSchedule::new(&flow.traffic, flow.start, end, random)?;
        let (mut times, mut sizes) = (Vec::new(), Vec::new());
        while times.len() < most && schedule.next() < end {
            times.push(schedule.next().as_secs_f64());
            sizes.push(schedule.message());
            schedule.advance();
        }
        Some((times, sizes))
    }

    /// The scenario in base units with all defaults, as JSON text.
    fn values_json(&self) -> String {
        self.parsed.to_json().to_string()
    }

    /// The scenario as a file with all defaults.
    fn to_toml(&self) -> String {
        self.parsed.to_toml()
    }

    /// Caveats of the results.
    #[getter]
    fn warnings(&self) -> Vec<&str> {
        self.parsed.warnings.iter().map(String::as_str).collect()
    }
}
