//! Metrics have each number of the status document.

use std::collections::{BTreeMap, BTreeSet};

use ropewalk_gateway::status::document::Document;
use ropewalk_gateway::status::metrics::exposition;
use serde_json::Value;

/// A document with every key of the status; no two numbers are equal.
const DOCUMENT: &str = include_str!("status.json");

/// Numbers without metrics: streams; ages and rates, which follow from time series; links as both halves see them.
const WITHOUT_METRICS: [&str; 7] = [
    "associations[].age_s",
    "rate_mbps.sent",
    "rate_mbps.received",
    "fastest_sending.rate_mbps",
    "fastest_receiving.rate_mbps",
    "streams[]",
    "total.links[]",
];

fn numbers(value: &Value, of: &str, found: &mut BTreeMap<String, f64>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                let name = if of.is_empty() {
                    key.clone()
                } else {
                    format!("{of}.{key}")
                };
                numbers(value, &name, found);
            }
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| numbers(value, &format!("{of}[]"), found)),
        Value::Number(number) => {
            found.insert(of.to_owned(), number.as_f64().unwrap());
        }
        _ => {}
    }
}

#[test]
fn metrics_have_each_number_of_the_document_in_base_units() {
    let value: Value = serde_json::from_str(DOCUMENT).unwrap();
    let document: Document = serde_json::from_value(value.clone()).unwrap();
    let debug = format!("{document:?}");
    assert!(
        !debug.contains("None"),
        "status.json has no value for a key of the document: {debug}"
    );
    let text = exposition(&document);
    let metrics: BTreeSet<String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').unwrap().1.to_owned())
        .collect();
    let mut found = BTreeMap::new();
    numbers(&value, "", &mut found);
    assert!(found.len() > 40, "{found:?}");
    for (key, number) in found {
        if WITHOUT_METRICS.iter().any(|without| key.contains(without)) {
            continue;
        }
        let base = if key.ends_with("_ms") {
            number / 1e3
        } else if key.ends_with("_mbps") {
            number * 1e6 / 8.0
        } else {
            number
        };
        assert!(
            metrics.contains(&format!("{base}")),
            "{key}: no metric has {base}:\n{text}"
        );
    }
}
