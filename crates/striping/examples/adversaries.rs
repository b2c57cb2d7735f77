//! Runs random adversaries against an end of a tunnel, or of an aggregation, and prints their cost: memory and time.
//!
//!     cargo run --release -p ropewalk-striping --example adversaries -- [aggregation] [--seconds N] [--first SEED] \
//!         [--datagrams N]
//!
//! `--datagrams` is the length of a run: datagrams to a tunnel, or frames to an aggregation.

#[path = "../tests/adversary/aggregation.rs"]
mod aggregation;
#[path = "../tests/adversary/draw.rs"]
mod draw;
#[path = "../tests/adversary/end.rs"]
mod end;
#[path = "../tests/adversary/memory.rs"]
mod memory;
#[path = "../tests/adversary/tunnel.rs"]
mod tunnel;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use tunnel::Outcome;

const USAGE: &str = "usage: adversaries [aggregation] [--seconds N] [--first SEED] [--datagrams N]";
/// Limits of the memory of an attacked end, above that of an idle one: at any time, and ten seconds after the
/// last datagram.
const MOST: usize = 64 << 20;
const LEFT: usize = 4 << 20;
const MIB: usize = 1 << 20;

fn main() -> ExitCode {
    let [seconds, first, datagrams] = match arguments() {
        Ok(arguments) => arguments,
        Err(wrong) => {
            eprintln!("{wrong}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match std::env::args().nth(1).as_deref() {
        Some("aggregation") => against_aggregation(seconds, first, datagrams),
        _ => against_tunnel(seconds, first, datagrams),
    }
}

fn mib(bytes: usize) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn against_aggregation(seconds: u64, first: u64, frames: u64) -> ExitCode {
    let begun = Instant::now();
    let bound = aggregation::BOUND as usize;
    let (mut seed, mut failed, mut refused, mut left) = (first, 0, 0, 0);
    let mut greediest = (0, aggregation::Outcome::default());
    while seed == first || begun.elapsed() < Duration::from_secs(seconds) {
        let outcome = aggregation::run(seed, frames);
        if outcome.most >= bound + bound / 2 || outcome.left >= MIB {
            println!("seed {seed}: {outcome:?}");
            failed += 1;
        }
        refused += u64::from(outcome.refused.is_some());
        left = left.max(outcome.left);
        if outcome.most > greediest.1.most {
            greediest = (seed, outcome);
        }
        seed += 1;
    }
    println!(
        "{} seeds from {first}, {failed} seeds above the bounds, {refused} refused",
        seed - first
    );
    println!(
        "most memory: {:.1} MiB of {:.0} MiB, seed {}: {}",
        mib(greediest.1.most),
        mib(bound),
        greediest.0,
        greediest.1.greedy
    );
    println!("left without connections: at most {:.1} MiB", mib(left));
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn against_tunnel(seconds: u64, first: u64, datagrams: u64) -> ExitCode {
    let begun = Instant::now();
    let (mut seed, mut failed) = (first, 0);
    let (mut time, mut packets) = (Duration::ZERO, 0);
    let (mut greediest, mut slowest) = ((0, Outcome::default()), (0, Outcome::default()));
    let (mut left, mut sent) = (0, 0);
    while seed == first || begun.elapsed() < Duration::from_secs(seconds) {
        let outcome = tunnel::run(seed, datagrams);
        if outcome.most >= MOST || outcome.left >= LEFT {
            println!("seed {seed}: {outcome:?}");
            failed += 1;
        }
        left = left.max(outcome.left);
        sent += datagrams;
        time += outcome.spent.0;
        packets += u64::from(outcome.spent.1);
        if outcome.slowest > slowest.1.slowest {
            slowest = (
                seed,
                Outcome {
                    greedy: String::new(),
                    slow: outcome.slow.clone(),
                    ..outcome
                },
            );
        }
        if outcome.most > greediest.1.most {
            greediest = (seed, outcome);
        }
        seed += 1;
    }
    println!(
        "{} seeds from {first}, {sent} datagrams, {failed} seeds above the bounds",
        seed - first
    );
    println!(
        "most memory: {:.1} MiB, seed {}: {}",
        mib(greediest.1.most),
        greediest.0,
        greediest.1.greedy
    );
    println!("left after 10 s: at most {:.1} MiB", mib(left));
    println!(
        "time for a datagram or packet: {:.2} us in the mean; of the slowest 256 {:.2} us, seed {}: {}",
        time.as_secs_f64() * 1e6 / packets as f64,
        slowest.1.slowest.as_secs_f64() * 1e6,
        slowest.0,
        slowest.1.slow
    );
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn arguments() -> Result<[u64; 3], String> {
    let mut all = [10, 0, 100_000];
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| argument != "aggregation");
    while let Some(argument) = arguments.next() {
        let number = match argument.as_str() {
            "--seconds" => &mut all[0],
            "--first" => &mut all[1],
            "--datagrams" => &mut all[2],
            other => return Err(format!("{other}: no such option")),
        };
        let value = arguments.next().and_then(|value| value.parse().ok());
        *number = value
            .filter(|value| *value > 0 || argument == "--first")
            .ok_or_else(|| format!("{argument}: a positive number must follow"))?;
    }
    Ok(all)
}
