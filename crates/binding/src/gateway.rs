//! The gateway's command line, run in this process.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Does what a command line of the gateway says; the first argument is the program's name.
/// Returns the exit status. The interpreter's lock is released meanwhile, so its handlers of
/// signals do not run: whoever calls this restores the system's own first.
#[pyfunction]
pub fn gateway(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| ropewalk_gateway::main(arguments))
}
