//! State of a run's sender in qlog.

use std::collections::HashMap;
use std::fs;

use ropewalk_capture::{Plan, Recording};
use ropewalk_scenario::Scenario;
use ropewalk_simulator::{Options, Outcome, simulate_watched};

use crate::{TWO_LINKS, scenario};

#[test]
fn qlog_has_losses_and_spurious_retransmissions() {
    qlog_tells_of_losses(&scenario(TWO_LINKS, &[]));
}

#[test]
fn qlog_of_aggregation_has_each_connection() {
    qlog_tells_of_losses(&scenario(
        TWO_LINKS,
        &[("transport.protocol", "aggregation")],
    ));
}

/// Outcome of a run, and its qlog records.
fn qlog_of(scenario: &Scenario) -> (Outcome, Vec<serde_json::Value>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.sqlog");
    let plan = Plan {
        packets: None,
        qlog: Some(path.clone()),
    };
    let mut recording = Recording::create(&plan, scenario, 1).expect("a new file");
    let outcome =
        simulate_watched(scenario, 1, &Options::default(), &mut recording).expect("a run");
    assert_eq!(recording.finish().expect("a file"), None);
    let text = fs::read_to_string(&path).expect("text");
    let records = text
        .split('\u{1e}')
        .skip(1)
        .map(|record| serde_json::from_str(record).expect("JSON"));
    (outcome, records.collect())
}

#[test]
fn qlog_repeats_loss_after_second_timeout() {
    const DARK: &str = r#"
        duration = "20 s"
        [[link]]
        name = "link"
        rate = "10 Mbit/s"
        delay = "10 ms"
        down = [["1 s", "6 s"]]
        [transport]
        protocol = "tcp"
        [traffic]
        size = "4 MB"
    "#;
    let (outcome, records) = qlog_of(&scenario(DARK, &[]));
    let mut timed_out: HashMap<u64, u64> = HashMap::new();
    for record in &records {
        if record["data"]["trigger"] == "pto_expired" {
            let number = record["data"]["header"]["packet_number"].as_u64();
            *timed_out.entry(number.expect("a number")).or_default() += 1;
        }
    }
    let timeouts = outcome.summary.subflows[0].timeouts;
    assert!(timeouts > 3);
    assert_eq!(timed_out.values().max(), Some(&timeouts));
}

fn qlog_tells_of_losses(scenario: &Scenario) {
    let (outcome, records) = qlog_of(scenario);
    // The log continues while connections close, when a FIN may be lost.
    let end_ms = outcome.summary.duration_s * 1e3;
    let of = |name: &str, path_id: usize| {
        let named = |record: &&serde_json::Value| {
            record["name"] == name
                && record["path_id"] == path_id
                && record["time"].as_f64() <= Some(end_ms)
        };
        records.iter().filter(named).count() as u64
    };
    for (number, subflow) in outcome.summary.subflows.iter().enumerate() {
        let lost = of("recovery:packet_lost", number);
        assert!(lost >= subflow.retransmissions, "{lost} of {subflow:?}");
        let most = subflow.retransmissions + subflow.timeouts * 100;
        assert!(lost <= most, "{lost} of {subflow:?}");
        assert_eq!(
            of("recovery:spurious_loss", number),
            subflow.spurious_retransmissions
        );
        assert!(of("recovery:metrics_updated", number) > 100);
    }
    let times: Vec<f64> = records[1..]
        .iter()
        .map(|record| record["time"].as_f64().expect("a time"))
        .collect();
    assert!(times.is_sorted());
}
