//! Runs many seeds of fault plans; the plans lie in `crates/striping/tests/faults`. Example:
//!
//!     cargo run --release -p ropewalk-striping --example fault_plans -- PLAN... [--seeds N] [--first SEED]

#[path = "../tests/association/faults/mod.rs"]
mod faults;
#[path = "../tests/association/simulation/mod.rs"]
mod simulation;

use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use faults::{Outcome, Plan, run};
use ropewalk_quantities::Time;

const USAGE: &str = "usage: fault_plans PLAN... [--seeds N] [--first SEED]";
/// Failures of a plan that are printed in full.
const SHOWN: usize = 10;

struct Arguments {
    plans: Vec<(String, Plan)>,
    first: u64,
    seeds: u64,
}

fn main() -> ExitCode {
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(wrong) => {
            eprintln!("{wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut failed = 0;
    for (file, plan) in &arguments.plans {
        let begun = Instant::now();
        let outcomes = run_all(plan, arguments.first, arguments.seeds);
        println!(
            "{file}: {} seeds from {} in {:.1} s",
            arguments.seeds,
            arguments.first,
            begun.elapsed().as_secs_f64()
        );
        failed += report(&outcomes);
    }
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn report(outcomes: &[(u64, Outcome)]) -> usize {
    let sum =
        |of: fn(&Outcome) -> u64| outcomes.iter().map(|(_, outcome)| of(outcome)).sum::<u64>();
    let stall = outcomes.iter().map(|(_, outcome)| outcome.stall).max();
    let memory = outcomes.iter().map(|(_, outcome)| outcome.memory).max();
    let trace = outcomes.iter().fold(0, |all: u64, (_, outcome)| {
        all.rotate_left(1) ^ outcome.trace
    });
    println!(
        "    {} faults, {} bytes delivered, {} retransmitted, at most {} waiting, longest stall {:.1} s, \
         trace {trace:016x}",
        sum(|outcome| outcome.faults),
        sum(|outcome| outcome.bytes),
        sum(|outcome| outcome.resent),
        memory.unwrap_or(0),
        stall.unwrap_or(Time::ZERO).as_secs_f64(),
    );
    let failed: Vec<_> = outcomes
        .iter()
        .filter(|(_, outcome)| !outcome.failures.is_empty())
        .collect();
    for (seed, outcome) in failed.iter().take(SHOWN) {
        println!("    seed {seed}: {}", outcome.failures.join("\n        "));
    }
    println!("    {} failed", failed.len());
    failed.len()
}

fn arguments() -> Result<Arguments, String> {
    let mut all = Arguments {
        plans: Vec::new(),
        first: 0,
        seeds: 1000,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let number = match argument.as_str() {
            "--seeds" => &mut all.seeds,
            "--first" => &mut all.first,
            option if option.starts_with("--") => return Err(format!("{option}: no such option")),
            file => {
                let text = std::fs::read_to_string(file);
                let plan = text
                    .map_err(|error| error.to_string())
                    .and_then(|text| text.parse());
                let plan = plan.map_err(|error| format!("{file}: {error}"))?;
                all.plans.push((file.to_owned(), plan));
                continue;
            }
        };
        let value = arguments.next().and_then(|value| value.parse().ok());
        *number = value.ok_or_else(|| format!("{argument}: a number must follow"))?;
    }
    if all.plans.is_empty() {
        return Err("no plan".to_owned());
    }
    Ok(all)
}

fn run_or_panic(plan: &Plan, seed: u64) -> Outcome {
    panic::catch_unwind(AssertUnwindSafe(|| run(plan, seed))).unwrap_or_else(|_| Outcome {
        failures: vec!["it panicked".to_owned()],
        ..Outcome::default()
    })
}

fn run_all(plan: &Plan, first: u64, seeds: u64) -> Vec<(u64, Outcome)> {
    let next = AtomicU64::new(first);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut own = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + seeds {
                return own;
            }
            own.push((seed, run_or_panic(plan, seed)));
        }
    };
    let mut outcomes: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|worker| worker.join());
        done.flat_map(|own| own.expect("a run that panics is caught"))
            .collect()
    });
    outcomes.sort_by_key(|(seed, _)| *seed);
    outcomes
}
