//! Some seeds of each fault plan; the example `fault_plans` runs thousands.

use crate::faults::{Plan, run};

const SEEDS: u64 = 30;

fn holds(plan: &str) {
    let plan: Plan = plan.parse().unwrap();
    for seed in 0..SEEDS {
        let outcome = run(&plan, seed);
        assert_eq!(outcome.failures, [""; 0], "seed {seed}");
    }
}

#[test]
fn carriers_come_and_go() {
    holds(include_str!("../faults/carriers.toml"));
}

#[test]
fn at_times_there_is_no_carrier() {
    holds(include_str!("../faults/dead-ends.toml"));
}

#[test]
fn readers_pause_and_give_up() {
    holds(include_str!("../faults/readers.toml"));
}

#[test]
fn under_any_scheduler() {
    holds(include_str!("../faults/schedulers.toml"));
}

#[test]
fn removed_stream_has_no_deadline() {
    let plan: Plan = include_str!("../faults/schedulers.toml").parse().unwrap();
    assert_eq!(run(&plan, 876).failures, [""; 0]);
}

#[test]
fn seed_determines_run() {
    let plan: Plan = include_str!("../faults/carriers.toml").parse().unwrap();
    let first: Vec<_> = (0..5).map(|seed| run(&plan, seed)).collect();
    let again: Vec<_> = (0..5).map(|seed| run(&plan, seed)).collect();
    assert_eq!(first, again);
    assert_ne!(first[0].trace, first[1].trace);
}
