//! Properties of all scenarios: parsing never panics, and output parses to the same scenario.

#[path = "../../../tests/fuzz/properties/scenario.rs"]
mod properties;
mod reading;

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use ropewalk_scenario::{MAX_SCENARIO_BYTES, Scenario, decode};

/// The corpus of the fuzz target, with the results of named files; inputs found by fuzzing have
/// none.
#[test]
fn the_fuzz_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz/corpus/scenario");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 12, "{files:?}");
    let mut said = String::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let outcome = match properties::check(&fs::read(&file).unwrap()) {
            Ok(scenario) if scenario.warnings.is_empty() => "right".to_owned(),
            Ok(scenario) => format!("right, but: {}", scenario.warnings.join("\n    ")),
            Err(errors) => errors.to_string().replace('\n', "\n    "),
        };
        if !name.starts_with("found_") {
            said.push_str(&format!("{name}\n    {outcome}\n"));
        }
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(said);
    });
}

#[test]
fn non_text_file_is_refused() {
    let zeros = vec![0; MAX_SCENARIO_BYTES + 1];
    let too_large = "zeros: larger than 32 MiB, too large for a scenario";
    assert_eq!(decode(&zeros, "zeros").unwrap_err().to_string(), too_large);
    let text = std::str::from_utf8(&zeros).unwrap();
    let parsed = Scenario::parse(text, "zeros", &[], &mut reading::trace);
    assert_eq!(parsed.unwrap_err().to_string(), too_large);

    let errors = decode(b"title = \"\xff\"", "latin").unwrap_err();
    assert_eq!(errors.to_string(), "latin: not a text file in UTF-8");

    let few_zeros = Scenario::parse("\0\0\0", "zeros", &[], &mut reading::trace);
    let not_text = "zeros: not a text file in UTF-8";
    assert_eq!(few_zeros.unwrap_err().to_string(), not_text);
}

/// Of many errors fifty are kept with positions, and the rest are counted; a list is read up to its
/// largest length. Both bound the work.
#[test]
fn error_list_keeps_first_fifty() {
    const LINES: usize = 70_000;
    const LONGEST_LIST: usize = 65_535;
    let keys: String = (0..LINES).map(|n| format!("key{n}=1\n")).collect();
    let one_line: String = (0..LINES).map(|n| format!("key{n}=1,")).collect();
    for (text, found) in [
        (keys, LINES + 1),
        (format!("transport={{{one_line}}}"), LINES + 1),
        // Each link lacks name and rate, and there are too many for a list and for a connection.
        ("[[link]]\n".repeat(LINES), 2 * LONGEST_LIST + 2),
    ] {
        let errors = Scenario::parse(&text, "large", &[], &mut reading::trace).unwrap_err();
        assert_eq!((errors.errors.len(), errors.more), (50, found - 50));
        let said = errors.to_string();
        assert_eq!(said.lines().count(), 51);
        // A line quotes only the beginning of a value.
        assert!(said.lines().all(|line| line.len() < 1_000), "{said}");
    }
}

const KEYS: &[&str] = &[
    "title",
    "duration",
    "warmup",
    "link.*.rate",
    "link.wifi.name",
    "link.wifi.delay",
    "link.lte.delay",
    "link.*.jitter",
    "link.wifi.jitter.amount",
    "link.wifi.jitter.reorder",
    "link.wifi.loss",
    "link.lte.loss.model",
    "link.lte.loss.p",
    "link.lte.loss.r",
    "link.*.queue",
    "link.lte.cost",
    "link.lte.reverse",
    "link.lte.reverse.delay",
    "link.wifi.reverse.trace",
    "link.wifi.reverse.loss.p",
    "link.wifi.down",
    "transport.profile",
    "transport.protocol",
    "transport.congestion",
    "transport.subflow",
    "transport.scheduler",
    "transport.paths",
    "transport.segment",
    "transport.send_buffer",
    "transport.packet",
    "transport.header",
    "transport.main_buffer",
    "transport.notsent_lowat",
    "transport.initial_window",
    "transport.initial_ssthresh",
    "transport.sack",
    "transport.delayed_ack",
    "transport.min_rto",
    "transport.receive_window_share",
    "transport.subflows_per_path",
    "traffic.kind",
    "traffic.size",
    "traffic.rate",
    "traffic.message",
    "path.both.hops",
    "competitor.competitor-1.path",
    "competitor.competitor-1.protocol",
    "competitor.*.congestion",
    "competitor.*.send_buffer",
    "competitor.*.start",
    "competitor.competitor-1.size",
    "competitor.competitor-1.traffic.kind",
    "competitor.competitor-1.traffic.rate",
    "competitor.competitor-1.packet",
    "competitor.competitor-1.main_buffer",
    "competitor.competitor-1.device",
    "competitor.*.scheduler",
    "transport.device",
    "transport.receive_buffer",
    "flow.video.profile",
    "flow.video.protocol",
    "flow.video.path",
    "flow.video.paths",
    "flow.video.name",
    "flow.video.count",
    "flow.video.start",
    "flow.video.traffic",
    "flow.video.traffic.kind",
    "flow.video.traffic.rate",
    "flow.video.traffic.size",
    "flow.*.congestion",
    "flow.*.subflow",
    "flow.*.scheduler",
    "flow.video.device",
    "flow.*.packet",
    "flow.*.main_buffer",
    "flow.video.send_buffer",
    "flow.*.segment",
    "flow.video.receive_window_share",
];

const VALUES: &[&str] = &[
    "0",
    "1",
    "0.5",
    "1.0",
    "-1",
    "true",
    "false",
    "1 ms",
    "5ms",
    "10 s",
    "0.1 %",
    "50%",
    "1mbit",
    "unlimited",
    "20 MB",
    "4 KiB",
    "10 packets",
    "1.5 bdp",
    "wifi",
    "lte",
    "both",
    "[\"wifi\"]",
    "[\"lte\", \"wifi\"]",
    "[[\"1 s\", \"2 s\"]]",
    "{ delay = \"2 ms\" }",
    "gilbert-elliott",
    "linux",
    "ns-3",
    "rfc",
    "mptcp-ns3",
    "dsack",
    "tcp",
    "udp",
    "mptcp",
    "striped-tcp",
    "aggregation",
    "bas",
    "naive",
    "tunnel",
    "{ kind = \"poisson\", rate = \"1mbit\" }",
    "cubic",
    "newreno",
    "lia",
    "uncoupled",
    "blest",
    "observed-throughput",
    "earliest-arrival",
    "cbr",
    "bulk",
    "x.trace",
    "\"",
    "\u{e9}\u{1f4a9}",
    "nan",
    "",
];

const PATH: &str = "[[path]]\nname = \"both\"\nhops = [\"wifi\", \"lte\"]\n";
const COMPETITOR: &str = "[[competitor]]\npath = \"lte\"\n";
const FLOW: &str =
    "[[flow]]\nname = \"video\"\n[[flow]]\nname = \"news\"\nprotocol = \"aggregation\"\n";

fn base() -> String {
    format!("{}{PATH}{COMPETITOR}{FLOW}", reading::TWO_LINKS)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn overrides_of_right_files(
        (with_path, with_competitor, with_flow) in any::<(bool, bool, bool)>(),
        picks in prop::collection::vec((0..KEYS.len(), 0..VALUES.len()), 0..6),
    ) {
        let sets = picks.iter().map(|(key, value)| format!("# --set {}={}\n", KEYS[*key], VALUES[*value]));
        let sets: String = sets.collect();
        let mut text = reading::TWO_LINKS.to_owned();
        for (part, wanted) in [(PATH, with_path), (COMPETITOR, with_competitor), (FLOW, with_flow)] {
            text.push_str(if wanted { part } else { "" });
        }
        let _ = properties::check(format!("{sets}{text}").as_bytes());
    }

    #[test]
    fn damaged_files(cut in 0_usize..400, length in 0_usize..20, new in ".{0,8}") {
        let mut text: Vec<char> = base().chars().collect();
        let cut = cut.min(text.len());
        let end = (cut + length).min(text.len());
        text.splice(cut..end, new.chars());
        let _ = properties::check(text.into_iter().collect::<String>().as_bytes());
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = properties::check(&bytes);
    }

    #[test]
    fn any_override(key in "[a-z.*]{0,20}", value in ".{0,20}") {
        let _ = reading::parse(&base(), &[(&key, &value), (&format!("link.wifi.{key}"), &value)]);
    }
}
