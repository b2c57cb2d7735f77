//! Results of one run as Python values.

use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ropewalk_simulator::{DelayBin, FlowOutcome, Outcome, Timeline};

/// Results of one run.
#[pyclass(frozen, module = "ropewalk._core")]
pub struct Run {
    pub(crate) outcome: Outcome,
    pub(crate) captured: Option<u64>,
}

#[pymethods]
impl Run {
    /// The run's summary as JSON text, with the keys of the JSON contract.
    fn summary_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.outcome.summary)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Number of captured packets, or None without a capture.
    #[getter]
    fn captured_packets(&self) -> Option<u64> {
        self.captured
    }

    /// Records of the flows after the first, except competitors.
    #[getter]
    fn further_flows(&self) -> Vec<FurtherFlow> {
        let others = self.outcome.others.iter().cloned();
        others.map(|outcome| FurtherFlow { outcome }).collect()
    }

    /// State per step and subflow: a dict of columns, if a timeline was recorded.
    fn subflow_timeline<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        subflows(py, self.outcome.timeline.as_ref())
    }

    /// State per step: a dict of columns, if a timeline was recorded.
    fn connection_timeline<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        connection(py, self.outcome.timeline.as_ref())
    }

    /// State of competitors per step: a dict of columns, if a timeline was recorded and there are
    /// any.
    fn competitor_timeline<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(rows) = &self.outcome.competitors else {
            return Ok(None);
        };
        let columns = PyDict::new(py);
        columns.set_item("time_s", array(py, &rows.time_s))?;
        columns.set_item("competitor", array(py, &rows.competitor))?;
        columns.set_item("goodput_mbps", array(py, &rows.goodput_mbps))?;
        Ok(Some(columns))
    }

    /// The histogram of delays: a dict of columns.
    fn delay_bins<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        delays(py, &self.outcome.delays)
    }
}

/// Records of a flow after the first.
#[pyclass(frozen, module = "ropewalk._core")]
pub struct FurtherFlow {
    outcome: FlowOutcome,
}

#[pymethods]
impl FurtherFlow {
    /// Name, numbered if its entry has several connections.
    #[getter]
    fn name(&self) -> &str {
        &self.outcome.name
    }

    /// Path of each of its subflows.
    #[getter]
    fn links(&self) -> Vec<&str> {
        self.outcome.links.iter().map(String::as_str).collect()
    }

    /// State per step and subflow: a dict of columns, if a timeline was recorded.
    fn subflow_timeline<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        subflows(py, self.outcome.timeline.as_ref())
    }

    /// State per step: a dict of columns, if a timeline was recorded.
    fn connection_timeline<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        connection(py, self.outcome.timeline.as_ref())
    }

    /// The histogram of delays: a dict of columns.
    fn delay_bins<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        delays(py, &self.outcome.delays)
    }
}

fn subflows<'py>(
    py: Python<'py>,
    timeline: Option<&Timeline>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(timeline) = timeline else {
        return Ok(None);
    };
    let rows = &timeline.subflows;
    let columns = PyDict::new(py);
    columns.set_item("time_s", array(py, &rows.time_s))?;
    columns.set_item("subflow", array(py, &rows.subflow))?;
    columns.set_item("goodput_mbps", array(py, &rows.goodput_mbps))?;
    columns.set_item("cwnd_bytes", array(py, &rows.cwnd_bytes))?;
    columns.set_item("ssthresh_bytes", array(py, &rows.ssthresh_bytes))?;
    columns.set_item("in_flight_bytes", array(py, &rows.in_flight_bytes))?;
    columns.set_item("srtt_ms", array(py, &rows.srtt_ms))?;
    if !timeline.undone.is_empty() {
        columns.set_item("undone", array(py, &timeline.undone))?;
    }
    Ok(Some(columns))
}

fn connection<'py>(
    py: Python<'py>,
    timeline: Option<&Timeline>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(timeline) = timeline else {
        return Ok(None);
    };
    let rows = &timeline.connection;
    let columns = PyDict::new(py);
    columns.set_item("time_s", array(py, &rows.time_s))?;
    columns.set_item("goodput_mbps", array(py, &rows.goodput_mbps))?;
    columns.set_item("capacity_mbps", array(py, &rows.capacity_mbps))?;
    columns.set_item(
        "reorder_buffer_bytes",
        array(py, &rows.reorder_buffer_bytes),
    )?;
    if !rows.player_buffer_s.is_empty() {
        columns.set_item("player_buffer_s", array(py, &rows.player_buffer_s))?;
    }
    Ok(Some(columns))
}

fn delays<'py>(py: Python<'py>, bins: &[DelayBin]) -> PyResult<Bound<'py, PyDict>> {
    let up_to_ms: Vec<f64> = bins.iter().map(|bin| bin.up_to_ms).collect();
    let count: Vec<u64> = bins.iter().map(|bin| bin.count).collect();
    let columns = PyDict::new(py);
    columns.set_item("up_to_ms", up_to_ms.into_pyarray(py))?;
    columns.set_item("count", count.into_pyarray(py))?;
    Ok(columns)
}

fn array<'py, T: numpy::Element>(py: Python<'py>, column: &[T]) -> Bound<'py, PyArray1<T>> {
    PyArray1::from_slice(py, column)
}
