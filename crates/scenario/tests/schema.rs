//! The JSON Schema and the table of keys that it is made of.

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
                    // Of an algorithm with its parameters, there are as many as there are.
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
fn it_knows_words_defaults_and_what_excludes_what() {
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
        json!(["linux", "ns-3", "rfc", "mptcp-ns3"])
    );
    assert_eq!(
        transport["min_rto"]["description"],
        json!(
            "Least retransmission timeout; at most max_rto. Default: \"1 s\" for profile ns-3, \"1 s\" for profile rfc."
        )
    );
}

/// A field of `Config` without a key could not be set by anybody.
#[test]
fn every_setting_of_the_transport_has_a_key() {
    let shown = format!("{:#?}", Config::profile(Profile::Linux));
    let fields: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| Some(line.split_once(':')?.0))
        .map(|field| match field {
            "subflow_congestion" => "subflow",
            // It is not the endpoints' alone.
            "multipath" => "protocol",
            field => field,
        })
        .collect();
    assert!(fields.len() > 20, "{fields:?}");
    let schema = schema();
    let keys = keys(&schema["properties"]["transport"]);
    for field in fields {
        assert!(keys.contains(&field), "transport.{field} is missing");
    }
}
