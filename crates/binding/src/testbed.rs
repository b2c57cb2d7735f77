//! A run on the kernel, in a process of its own.

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use ropewalk_testbed::{
    Emulation, Error, Request, acquire, die_with_parent, doctor, emulate, world,
};

use crate::ScenarioError;

/// Makes this process a testbed, runs what the request (JSON) asks for, and gives the report (JSON).
///
/// To be called in a process that was started for it and has one thread: without root it moves into
/// a user namespace, and it is killed when the thread that started it ends.
#[pyfunction]
pub fn testbed_world(py: Python<'_>, request: &str) -> PyResult<String> {
    let request = parse(request)?;
    let report = py.detach(|| {
        acquire()?;
        die_with_parent().map_err(Error::NoParent)?;
        world(&request)
    });
    to_json(&report.map_err(into_error)?)
}

/// What this machine can do, and whether the scenario of a request (JSON) can run on it, as JSON.
///
/// To be called in a process of its own, as `testbed_world`.
#[pyfunction]
#[pyo3(signature = (request=None))]
pub fn testbed_doctor(py: Python<'_>, request: Option<&str>) -> PyResult<String> {
    let request = request.map(parse).transpose()?;
    let diagnosis = py.detach(|| {
        // Where there is no right to namespaces, the diagnosis says so.
        let _ = acquire();
        doctor(request.as_ref())
    });
    to_json(&diagnosis.map_err(into_error)?)
}

/// Runs a program behind emulated links, as a request (JSON) says, and gives its exit status.
///
/// To be called in a process that has one thread, and whose signals are the system's: they go on to the
/// program.
#[pyfunction]
pub fn testbed_emulate(py: Python<'_>, request: &str) -> PyResult<u8> {
    let emulation: Emulation =
        serde_json::from_str(request).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let status = py.detach(|| {
        acquire()?;
        emulate(&emulation)
    });
    status.map_err(into_error)
}

fn parse(request: &str) -> PyResult<Request> {
    serde_json::from_str(request).map_err(|error| PyValueError::new_err(error.to_string()))
}

fn to_json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

fn into_error(error: Error) -> PyErr {
    if error.is_input() {
        ScenarioError::new_err(error.to_string())
    } else {
        PyRuntimeError::new_err(error.to_string())
    }
}
