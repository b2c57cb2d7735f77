//! `ropewalk-gateway`: see [`ropewalk_gateway::main`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ropewalk_gateway::main(std::env::args_os()))
}
