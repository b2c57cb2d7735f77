//! Runs many seeds of a fault plan:
//! `cargo run --release -p ropewalk-striping --example fault_plans -- PLAN --seeds 10000 [--first N]`

#[path = "../tests/association/faults/mod.rs"]
mod faults;
#[path = "../tests/association/world/mod.rs"]
mod world;

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use faults::{Outcome, Plan, run};
use ropewalk_quantities::Time;

const USAGE: &str = "usage: fault_plans PLAN [--seeds N] [--first SEED]";
/// Failures that are printed in full.
const SHOWN: usize = 10;

fn main() -> ExitCode {
    let (plan, first, seeds) = match arguments() {
        Ok(arguments) => arguments,
        Err(wrong) => {
            eprintln!("{wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let begun = Instant::now();
    let outcomes = run_all(&plan, first, seeds);
    let sum =
        |of: fn(&Outcome) -> u64| outcomes.iter().map(|(_, outcome)| of(outcome)).sum::<u64>();
    let stall = outcomes.iter().map(|(_, outcome)| outcome.stall).max();
    let memory = outcomes.iter().map(|(_, outcome)| outcome.memory).max();
    println!(
        "{seeds} seeds from {first} in {:.1} s: {} bytes delivered, {} faults, {} bytes sent again, \
         at most {} bytes waiting, longest stall {:.1} s",
        begun.elapsed().as_secs_f64(),
        sum(|outcome| outcome.bytes),
        sum(|outcome| outcome.faults),
        sum(|outcome| outcome.resent),
        memory.unwrap_or(0),
        stall.unwrap_or(Time::ZERO).as_secs_f64(),
    );
    let failed: Vec<_> = outcomes
        .iter()
        .filter(|(_, outcome)| !outcome.failures.is_empty())
        .collect();
    for (seed, outcome) in failed.iter().take(SHOWN) {
        println!("seed {seed}: {}", outcome.failures.join("\n  "));
    }
    println!("{} failed", failed.len());
    if failed.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn arguments() -> Result<(Plan, u64, u64), String> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("no plan")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let plan = text.parse().map_err(|error| format!("{path}: {error}"))?;
    let (mut first, mut seeds) = (0, 1000);
    while let Some(name) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse().ok());
        let value: u64 = value.ok_or_else(|| format!("{name}: a number must follow"))?;
        match name.as_str() {
            "--seeds" => seeds = value,
            "--first" => first = value,
            _ => return Err(format!("{name}: no such option")),
        }
    }
    Ok((plan, first, seeds))
}

/// All seeds, by as many threads as there are cores, in the order of the seeds.
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
            own.push((seed, run(plan, seed)));
        }
    };
    let mut outcomes: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|worker| worker.join());
        done.flat_map(|own| own.expect("a run panicked")).collect()
    });
    outcomes.sort_by_key(|(seed, _)| *seed);
    outcomes
}
