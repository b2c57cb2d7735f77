//! How fast the simulator is: data packets and events per CPU-second, and peak memory.
//!
//!     cargo run --release -p ropewalk-simulator --example throughput [-- a b c]
//!
//! Each case runs in a process of its own, so that its peak memory is its own.

use std::process::Command;

use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, simulate};

struct Case {
    key: &'static str,
    what: &'static str,
    scenario: &'static str,
    /// As `--set` takes them.
    overrides: &'static [(&'static str, &'static str)],
}

const ONE_TCP: &str = r#"
    duration = "60 s"
    [[link]]
    name = "link"
    rate = "100 Mbit/s"
    delay = "10 ms"
    queue = "100 packets"
    [transport]
    protocol = "tcp"
    [traffic]
    size = "200 MB"
"#;

const TWO_LINKS: &str = r#"
    duration = "60 s"
    [[link]]
    name = "fast"
    rate = "100 Mbit/s"
    delay = "10 ms"
    queue = "100 packets"
    [[link]]
    name = "slow"
    rate = "50 Mbit/s"
    delay = "30 ms"
    queue = "100 packets"
    [transport]
    protocol = "mptcp"
    congestion = "lia"
    [traffic]
    size = "200 MB"
"#;

const MANY_FLOWS: &str = r#"
    duration = "5 s"
    [[link]]
    name = "link"
    rate = "10 Gbit/s"
    delay = "10 ms"
    [transport]
    protocol = "tcp"
    [[competitor]]
    path = "link"
    count = 999
"#;

const TEN_TIMES: &[(&str, &str)] = &[("duration", "600 s"), ("traffic.size", "2 GB")];

const CASES: [Case; 5] = [
    Case {
        key: "a",
        what: "one TCP, 100 Mbit/s 10 ms, queue 100 packets, 200 MB",
        scenario: ONE_TCP,
        overrides: &[],
    },
    Case {
        key: "a10",
        what: "the same, 2 GB",
        scenario: ONE_TCP,
        overrides: TEN_TIMES,
    },
    Case {
        key: "b",
        what: "MPTCP with LIA, 100 Mbit/s 10 ms and 50 Mbit/s 30 ms, 200 MB",
        scenario: TWO_LINKS,
        overrides: &[],
    },
    Case {
        key: "b10",
        what: "the same, 2 GB",
        scenario: TWO_LINKS,
        overrides: TEN_TIMES,
    },
    Case {
        key: "c",
        what: "1000 TCP flows, 10 Gbit/s 10 ms, 5 s",
        scenario: MANY_FLOWS,
        overrides: &[],
    },
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, key] = wanted.as_slice()
        && flag == "--one"
    {
        run(key);
        return;
    }
    println!(
        "{:<4} {:>12} {:>12} {:>9} {:>9}  case",
        "", "packets/s", "events/s", "CPU s", "peak MB"
    );
    for case in &CASES {
        if !wanted.is_empty() && !wanted.iter().any(|key| key == case.key) {
            continue;
        }
        let program = std::env::current_exe().expect("this program's own path");
        let status = Command::new(program)
            .args(["--one", case.key])
            .status()
            .expect("a process of its own");
        assert!(status.success(), "case {} failed", case.key);
    }
}

fn run(key: &str) {
    let case = CASES.iter().find(|case| case.key == key).expect("a case");
    let overrides: Vec<(String, String)> = case
        .overrides
        .iter()
        .map(|&(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let mut no_files = |_: &str| Err("no files".to_owned());
    let scenario = Scenario::parse(case.scenario, case.key, &overrides, &mut no_files)
        .expect("a scenario without errors");
    let before = cpu_seconds();
    let outcome =
        simulate(&scenario, 1, &Options::default()).expect("a scenario that is simulated");
    let cpu = cpu_seconds() - before;
    let stats = outcome.summary.stats;
    println!(
        "{:<4} {:>12.0} {:>12.0} {:>9.3} {:>9.1}  {} ({:.1} Mbit/s)",
        case.key,
        stats.data_packets as f64 / cpu,
        stats.events as f64 / cpu,
        cpu,
        peak_megabytes(),
        case.what,
        outcome.summary.goodput_mbps,
    );
}

/// User and system time of this process, from the kernel's accounting in nanoseconds.
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
