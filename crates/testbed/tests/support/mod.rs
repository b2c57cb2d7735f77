//! Helpers for tests on the kernel.

use std::time::Instant;

use ropewalk_scenario::Scenario;
use ropewalk_testbed::{Emulator, Error, Namespace, Testbed};

/// Parses a scenario of these lines.
pub fn scenario(text: &str) -> Scenario {
    let mut no_traces = |_: &str| Err("no such file".to_owned());
    Scenario::parse(text, "test.toml", &[], &mut no_traces).unwrap()
}

/// Both ends with running links since `epoch`; `None`, with the reason printed, without permission
/// of the machine.
pub fn running(scenario: &Scenario, seed: u64) -> Option<(Testbed, Emulator, Instant)> {
    if let Err(error) = Namespace::create("probe") {
        // The test runner has threads: it cannot move into a user namespace.
        println!("skipped: no network namespaces ({error})");
        return None;
    }
    let mut testbed = match Testbed::build(scenario) {
        Ok(testbed) => testbed,
        Err(error @ (Error::NoTun(_) | Error::NoProgram { .. })) => {
            println!("skipped: {error}");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let epoch = Instant::now();
    let emulator = testbed.start(scenario, seed, epoch, None).unwrap();
    Some((testbed, emulator, epoch))
}
