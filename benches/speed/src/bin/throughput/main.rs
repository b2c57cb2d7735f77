//! Benchmark of the simulator: data packets and events per CPU-second, and peak memory.
//!
//!     cargo run --release -p ropewalk-speed --bin throughput [-- a b c]
//!     throughput --one KEY [SHARE [NAME=VALUE ...]]
//!
//! Each case runs in a process of its own, so that peak memory is per case. `--one` is such a process: it
//! runs a case, or a share of it, with changed scenario keys. It prints data packets (data frames of
//! radios), events, CPU-seconds, peak memory in MB and goodput in Mbit/s.

mod cases;

use std::process::Command;

use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, simulate};

use cases::{CASES, Case};

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, key, share @ ..] = wanted.as_slice()
        && flag == "--one"
    {
        let (share, changes) = share.split_first().unzip();
        run(
            case(key),
            share.map_or(1.0, |share| share.parse().expect("a share")),
            changes.unwrap_or_default(),
        );
        return;
    }
    println!(
        "{:<8} {:>12} {:>12} {:>9} {:>9}  case",
        "", "packets/s", "events/s", "CPU s", "peak MB"
    );
    for case in &CASES {
        if !wanted.is_empty() && !wanted.iter().any(|key| key == case.key) {
            continue;
        }
        let [packets, events, cpu, peak, goodput] = run_apart(case);
        println!(
            "{:<8} {:>12.0} {:>12.0} {:>9.3} {:>9.1}  {} ({:.1} Mbit/s)",
            case.key,
            packets / cpu,
            events / cpu,
            cpu,
            peak,
            case.what,
            goodput,
        );
    }
}

fn case(key: &str) -> &'static Case {
    let case = CASES.iter().find(|case| case.key == key);
    case.unwrap_or_else(|| {
        panic!(
            "{key} is none of the cases: {}",
            CASES.map(|case| case.key).join(" ")
        )
    })
}

/// Runs a case in a process of its own and returns the printed numbers.
fn run_apart(case: &Case) -> [f64; 5] {
    let program = std::env::current_exe().expect("this program's own path");
    let output = Command::new(program).args(["--one", case.key]).output();
    let output = output.expect("a process of its own");
    assert!(output.status.success(), "case {} failed", case.key);
    let printed = String::from_utf8(output.stdout).expect("numbers");
    let numbers = printed.split_whitespace();
    let numbers: Vec<f64> = numbers
        .map(|word| word.parse().expect("a number"))
        .collect();
    numbers.try_into().expect("five numbers")
}

fn run(case: &Case, share: f64, changes: &[String]) {
    let mut overrides = vec![("duration".to_owned(), format!("{} s", case.seconds * share))];
    if let Some(megabytes) = case.megabytes {
        overrides.push((
            "traffic.size".to_owned(),
            format!("{} kB", megabytes * share * 1e3),
        ));
    }
    for change in changes {
        let (name, value) = change.split_once('=').expect("NAME=VALUE");
        overrides.push((name.to_owned(), value.to_owned()));
    }
    let mut no_files = |_: &str| Err("no files".to_owned());
    let text = (case.scenario)();
    let scenario = Scenario::parse(&text, case.key, &overrides, &mut no_files)
        .expect("a scenario without errors");
    let before = cpu_seconds();
    let outcome =
        simulate(&scenario, 1, &Options::default()).expect("a scenario that is simulated");
    let cpu = cpu_seconds() - before;
    let stats = outcome.summary.stats;
    let radios = &outcome.summary.radios;
    let sent = match radios.is_empty() {
        true => stats.data_packets,
        false => radios.iter().map(|radio| radio.frames).sum(),
    };
    println!(
        "{sent} {} {cpu:.6} {:.2} {:.2}",
        stats.events,
        peak_megabytes(),
        outcome.summary.goodput_mbps,
    );
}

/// User and system time of this process in the kernel's accounting, with nanoseconds.
fn cpu_seconds() -> f64 {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").expect("Linux's /proc");
    let nanos: u64 = schedstat
        .split(' ')
        .next()
        .and_then(|field| field.parse().ok())
        .expect("a number");
    nanos as f64 / 1e9
}

fn peak_megabytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux's /proc");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("peak memory");
    let kib: f64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|field| field.parse().ok())
        .expect("a number");
    kib / 1e3 * 1.024
}
