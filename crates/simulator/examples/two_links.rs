//! A scenario simulated from Rust: shares of two links used by each scheduler of MPTCP.
//!
//!     cargo run -p ropewalk-simulator --example two_links
//!
//! A scenario is a TOML text. [`Scenario::parse`] fills in all defaults, and [`simulate`] runs it with a
//! seed. The [`Outcome`] has the numbers that `ropewalk simulate --json` prints, and on request
//! ([`Options`]) a timeline. The same scenario and seed give the same outcome on every machine.

use ropewalk_quantities::Time;
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, Outcome, simulate};

const SCENARIO: &str = r#"
title = "DSL and LTE"
duration = "10 s"

[[link]]
name = "dsl"
rate = "16 Mbit/s"
delay = "15 ms"

[[link]]
name = "lte"
rate = "12 Mbit/s"
delay = "35 ms"
loss = "0.05 %"

[transport]
protocol = "mptcp"
"#;
/// Rate of both links together, headers included.
const SUM_MBPS: f64 = 28.0;

/// Runs the scenario with a scheduler and a seed.
fn run(scheduler: &str, seed: u64) -> Result<Outcome, Box<dyn std::error::Error>> {
    // As `--set transport.scheduler=...` on the command line.
    let overrides = [("transport.scheduler".to_owned(), scheduler.to_owned())];
    // Returns the text of files that a scenario names, such as traces; this one names none.
    let mut no_files = |name: &str| Err(format!("{name}: no such file"));
    let scenario = Scenario::parse(SCENARIO, "dsl-lte", &overrides, &mut no_files)?;
    let options = Options {
        timeline_step: Some(Time::from_secs(1)),
        ..Options::default()
    };
    Ok(simulate(&scenario, seed, &options)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for scheduler in ["linux", "min-rtt", "round-robin"] {
        let outcome = run(scheduler, 1)?;
        let summary = &outcome.summary;
        println!(
            "{scheduler}: {:.1} of {SUM_MBPS} Mbit/s",
            summary.goodput_mbps
        );
        for link in &summary.links {
            let mbps = link.delivered_bytes as f64 * 8e-6 / summary.duration_s;
            println!("  {}: {mbps:.1} Mbit/s", link.name);
        }
        if let Some(timeline) = &outcome.timeline {
            let rows = &timeline.connection;
            for (time, mbps) in rows.time_s.iter().zip(&rows.goodput_mbps).take(3) {
                println!("  until {time} s: {mbps:.1} Mbit/s");
            }
        }
    }
    Ok(())
}

#[test]
fn mptcp_uses_both_links_and_a_seed_repeats_itself() {
    let outcome = run("min-rtt", 1).unwrap();
    let goodput = outcome.summary.goodput_mbps;
    assert!(goodput > 16.0 && goodput < SUM_MBPS, "{goodput}");
    assert!(run("min-rtt", 1).unwrap() == outcome);
    assert!(run("min-rtt", 2).unwrap() != outcome, "losses are drawn");
    let timeline = outcome.timeline.expect("asked for");
    assert_eq!(timeline.connection.time_s.len(), 10);
}

#[test]
fn an_unknown_scheduler_is_refused_with_the_nearest_name() {
    let error = run("min-rt", 1).unwrap_err().to_string();
    assert!(error.contains("min-rtt"), "{error}");
}
