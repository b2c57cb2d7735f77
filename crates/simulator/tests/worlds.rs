//! Worlds in which the association was once slower than the best of its links alone.
//!
//! Each file is a random world with TCP on the link on which it is best. Over all of its links, the
//! association is to bring at least a share of that.

use std::path::Path;

use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, simulate};

/// File, links, share.
const WORLDS: [(&str, usize, f64); 20] = [
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

/// Mbit/s, the median of three runs.
fn goodput(name: &str, overrides: &[(String, String)]) -> f64 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/agreement/worlds");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("a world");
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
fn no_world_is_slower_than_its_best_link() {
    for (name, links, share) in WORLDS {
        let paths: Vec<String> = (1..=links).map(|link| format!("\"l{link}\"")).collect();
        let all = [
            ("transport.protocol", "\"bas\"".to_owned()),
            ("transport.paths", format!("[{}]", paths.join(", "))),
        ];
        let all = all.map(|(key, value)| (key.to_owned(), value));
        let (best, bas) = (goodput(name, &[]), goodput(name, &all));
        assert!(bas >= share * best, "{name}: {bas:.2}, {best:.2} alone");
    }
}
