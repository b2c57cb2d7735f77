//! `ropewalk._core`: Python interface of the Rust crates.
//!
//! It converts values, releases the interpreter's lock, runs seeds in parallel, and reads the
//! clock, which pure crates may not do.

mod mesh;
mod mptcp;
mod packets;
mod run;
mod scenario;
mod simulate;

use pyo3::prelude::*;

pyo3::create_exception!(
    ropewalk._core,
    ScenarioError,
    pyo3::exceptions::PyValueError,
    "The scenario is wrong; the text names every error with its line and the allowed values."
);

/// JSON Schema of a scenario file, as JSON text.
#[pyfunction]
fn schema_json() -> String {
    ropewalk_scenario::schema().to_string()
}

/// Algorithms by scenario key, as JSON text.
#[pyfunction]
fn algorithms_json() -> String {
    ropewalk_scenario::algorithms().to_string()
}

#[pyfunction]
fn decode<'a>(content: &'a [u8], name: &str) -> PyResult<&'a str> {
    ropewalk_scenario::decode(content, name)
        .map_err(|errors| ScenarioError::new_err(errors.to_string()))
}

/// Value of a key in its base unit; None if it is no number.
#[pyfunction]
fn base_value(key: &str, value: &str) -> Option<f64> {
    ropewalk_scenario::base_value(key, value)
}

/// A scenario file with overrides applied.
#[pyfunction]
fn effective(text: &str, name: &str, overrides: Vec<(String, String)>) -> PyResult<String> {
    ropewalk_scenario::effective(text, name, &overrides)
        .map_err(|errors| ScenarioError::new_err(errors.to_string()))
}

#[pymodule(name = "_core")]
fn core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("MAX_SCENARIO_BYTES", ropewalk_scenario::MAX_SCENARIO_BYTES)?;
    module.add("MAX_TRACE_BYTES", ropewalk_scenario::MAX_TRACE_BYTES)?;
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add(
        "PacketFileError",
        module.py().get_type::<packets::PacketFileError>(),
    )?;
    module.add_class::<packets::PacketReader>()?;
    module.add_class::<packets::Interface>()?;
    module.add_class::<packets::Record>()?;
    module.add_class::<packets::Segment>()?;
    module.add_class::<packets::Options>()?;
    module.add_class::<mptcp::MpCapable>()?;
    module.add_class::<mptcp::MpJoin>()?;
    module.add_class::<mptcp::Mapping>()?;
    module.add_class::<mptcp::Dss>()?;
    module.add_class::<mptcp::AddAddr>()?;
    module.add_class::<mptcp::RemoveAddr>()?;
    module.add_class::<mptcp::MpPrio>()?;
    module.add_class::<mptcp::MpFail>()?;
    module.add_class::<mptcp::MpFastclose>()?;
    module.add_class::<mptcp::MpTcpRst>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<run::FurtherFlow>()?;
    module.add_function(wrap_pyfunction!(mesh::mesh_census, module)?)?;
    module.add_function(wrap_pyfunction!(simulate::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(algorithms_json, module)?)?;
    module.add_function(wrap_pyfunction!(base_value, module)?)?;
    module.add_function(wrap_pyfunction!(decode, module)?)?;
    module.add_function(wrap_pyfunction!(effective, module)?)?;
    module.add_function(wrap_pyfunction!(schema_json, module)?)?;
    Ok(())
}
