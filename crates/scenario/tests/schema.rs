//! The JSON Schema and its table of keys.

use ropewalk_scenario::schema;
use ropewalk_transport::{Config, Profile};
use serde_json::{Value, json};

fn keys(schema: &Value) -> Vec<&str> {
    let properties = schema["properties"].as_object().unwrap();
    properties.keys().map(String::as_str).collect()
}

#[test]
fn it_closes_every_table() {
    fn check(schema: &Value, tables: &mut usize) {
        match schema {
            Value::Object(members) => {
                if let Some(properties) = members.get("properties") {
                    assert_eq!(members["additionalProperties"], json!(false));
                    // Algorithm tables may have any number of parameters.
                    let is_algorithm = properties["name"].get("enum").is_some();
                    *tables += usize::from(!is_algorithm);
                }
                members.values().for_each(|value| check(value, tables));
            }
            Value::Array(items) => items.iter().for_each(|value| check(value, tables)),
            _ => {}
        }
    }
    let mut tables = 0;
    check(&schema(), &mut tables);
    assert_eq!(tables, 26);
}

#[test]
fn schema_has_words_defaults_and_exclusions() {
    let schema = schema();
    let link = &schema["properties"]["link"]["items"];
    assert_eq!(link["required"], json!(["name"]));
    assert_eq!(
        link["oneOf"],
        json!([{ "required": ["rate"] }, { "required": ["trace"] }, { "required": ["channel"] }])
    );
    assert_eq!(link["properties"]["queue"]["default"], json!("1 bdp"));
    let transport = &schema["properties"]["transport"]["properties"];
    assert_eq!(transport["receive_buffer"]["default"], json!("6 MiB"));
    assert_eq!(transport["sack"]["default"], json!(true));
    assert_eq!(
        transport["profile"]["enum"],
        json!(["linux", "linux-3.13", "ns-3", "rfc", "mptcp-ns3"])
    );
    assert_eq!(
        transport["min_rto"]["description"],
        json!(
            "Minimum retransmission timeout; at most `max_rto`. Default: \"1 s\" for profile ns-3, \"1 s\" for profile rfc."
        )
    );
}

/// Users could not set a field of `Config` without a key.
#[test]
fn every_setting_of_the_transport_has_a_key() {
    let mut part = String::new();
    let mut fields = Vec::new();
    for line in format!("{:#?}", Config::profile(Profile::Linux)).lines() {
        let of = line.trim_start();
        let Some((name, value)) = of.split_once(": ") else {
            continue;
        };
        match (line.len() - of.len(), value.ends_with('{')) {
            (4, true) => part = format!("{name}."),
            (4, false) => {
                part.clear();
                fields.push(name.to_owned());
            }
            (8, _) if !part.is_empty() => fields.push(format!("{part}{name}")),
            _ => {}
        }
    }
    assert!(fields.len() > 40, "{fields:?}");
    let schema = schema();
    let keys = keys(&schema["properties"]["transport"]);
    for field in fields {
        let key = match field.as_str() {
            // A protocol setting, not an endpoint setting.
            "multipath" => "protocol",
            "window.validate" => "validate_cwnd",
            "rto.min" => "min_rto",
            "rto.min_on_variance" => "min_rto_on_variance",
            "rto.max" => "max_rto",
            "rto.initial" => "initial_rto",
            "rto.from_sack" => "rtt_from_sack",
            "send_buffer.size" => "send_buffer",
            "send_buffer.autotuning" => "send_buffer_autotuning",
            "receive_buffer.size" => "receive_buffer",
            "receive_buffer.window_share" => "receive_window_share",
            "subflows.per_path" => "subflows_per_path",
            "subflows.wait_for_all" => "wait_for_subflows",
            field => field.rsplit('.').next().unwrap(),
        };
        assert!(keys.contains(&key), "no key sets {field} ({key})");
    }
}
