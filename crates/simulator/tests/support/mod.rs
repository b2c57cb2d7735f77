//! Scenarios from text, for all tests of the simulator.

use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, Outcome, simulate};

/// Parses a valid scenario; a file named `trace` has one opportunity per millisecond.
pub fn scenario(text: &str) -> Scenario {
    let mut read = |name: &str| match name {
        "trace" => Ok((1..=1000).map(|ms| format!("{ms}\n")).collect()),
        other => Err(format!("no file {other}")),
    };
    match Scenario::parse(text, "test", &[], &mut read) {
        Ok(scenario) => scenario,
        Err(errors) => panic!("{errors}"),
    }
}

/// Runs a scenario once with this seed.
pub fn run(text: &str, seed: u64) -> Outcome {
    simulate(&scenario(text), seed, &Options::default()).expect("a scenario that is simulated")
}
