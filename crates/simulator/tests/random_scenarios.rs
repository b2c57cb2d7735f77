//! Random scenarios in which the association was once slower than its best link alone, and a tunnel over
//! that link slower than TCP without one.
//!
//! Each file has TCP on its best link. The association, over all links, and the tunnel, over that link,
//! must reach at least a fraction of its goodput.

use std::path::Path;

use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, simulate};

/// File, links, fraction.
const SCENARIOS: [(&str, usize, f64); 20] = [
    ("001-up", 2, 0.95),
    ("002-up", 2, 0.95),
    ("049-up", 2, 0.95),
    ("097-up", 3, 0.85),
    ("146-up", 2, 0.95),
    ("158-up", 3, 0.95),
    ("177-up", 3, 0.85),
    ("202-up", 5, 0.95),
    ("206-up", 2, 0.95),
    ("214-up", 7, 0.95),
    ("217-up", 3, 0.85),
    ("218-up", 3, 0.95),
    ("254-up", 4, 0.95),
    ("261-up", 5, 0.95),
    ("266-up", 2, 0.95),
    ("277-up", 2, 0.95),
    ("297-up", 7, 0.95),
    ("317-down", 6, 0.95),
    ("318-up", 2, 0.95),
    ("398-up", 5, 0.95),
];

/// Files, and the fraction for a tunnel over the one link. Headers take 5 %. In 185, TCP without a tunnel
/// soon has the whole link; inside, it begins later and leaves slow start earlier.
const ONE_LINK: [(&str, f64); 20] = [
    ("tunnel-005-down", 0.94),
    ("tunnel-017-down", 0.94),
    ("tunnel-021-up", 0.94),
    ("tunnel-025-up", 0.9),
    ("tunnel-033-up", 0.94),
    ("tunnel-040-up", 0.9),
    ("tunnel-051-up", 0.9),
    ("tunnel-052-up", 0.9),
    ("tunnel-065-up", 0.9),
    ("tunnel-082-up", 0.9),
    ("tunnel-096-up", 0.94),
    ("tunnel-136-up", 0.94),
    ("tunnel-138-up", 0.94),
    ("tunnel-157-up", 0.94),
    ("tunnel-165-up", 0.94),
    ("tunnel-185-up", 0.75),
    ("tunnel-218-up", 0.94),
    ("tunnel-227-up", 0.94),
    ("tunnel-228-up", 0.94),
    ("tunnel-229-up", 0.94),
];

/// Mbit/s, the median of three runs.
fn goodput(name: &str, overrides: &[(String, String)]) -> f64 {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agreement/worst-scenarios");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("a scenario");
    let mut no_files = |_: &str| Err("no files".to_owned());
    let scenario = Scenario::parse(&text, name, overrides, &mut no_files).expect("no errors");
    let mut delivered = [1, 2, 3].map(|seed| {
        let outcome = simulate(&scenario, seed, &Options::default()).expect("simulated");
        outcome.summary.delivered_bytes
    });
    delivered.sort_unstable();
    delivered[1] as f64 * 8e-6 / (scenario.duration - scenario.warmup).as_secs_f64()
}

#[test]
fn aggregation_reaches_its_best_link() {
    for (name, links, share) in SCENARIOS {
        let paths: Vec<String> = (1..=links).map(|link| format!("\"l{link}\"")).collect();
        let all = [
            ("transport.protocol", "\"aggregation\"".to_owned()),
            ("transport.paths", format!("[{}]", paths.join(", "))),
        ];
        let all = all.map(|(key, value)| (key.to_owned(), value));
        let (best, bas) = (goodput(name, &[]), goodput(name, &all));
        assert!(bas >= share * best, "{name}: {bas:.2}, {best:.2} alone");
    }
}

#[test]
fn tunnel_over_one_link_reaches_tcp_goodput() {
    let tunnel = [
        ("transport.protocol", "\"striped-tcp\""),
        ("transport.device", "\"tunnel\""),
        ("transport.scheduler", "\"earliest-arrival\""),
    ];
    let tunnel = tunnel.map(|(key, value)| (key.to_owned(), value.to_owned()));
    for (name, share) in ONE_LINK {
        let (plain, tunnelled) = (goodput(name, &[]), goodput(name, &tunnel));
        assert!(
            tunnelled >= share * plain,
            "{name}: {tunnelled:.2}, {plain:.2} without"
        );
    }
}
