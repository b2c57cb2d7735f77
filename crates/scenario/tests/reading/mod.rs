//! Helpers to parse scenarios; each test file uses some.
#![allow(dead_code, missing_docs)]

use ropewalk_scenario::{Errors, Scenario};

/// One link, to which a test may append.
pub const LINK: &str = r#"[[link]]
name = "a"
rate = "1mbit"
delay = "10ms"
"#;

pub const TWO_LINKS: &str = r#"
[[link]]
name = "wifi"
rate = "20 Mbit/s"
delay = "10 ms"

[[link]]
name = "lte"
rate = "10mbit"
delay = "30ms"
"#;

/// Traces that tests may name.
pub fn trace(name: &str) -> Result<String, String> {
    match name {
        "good.trace" => Ok("0\n1\n1\n12\n".to_owned()),
        "bad.trace" => Ok("0\n1\nx\n".to_owned()),
        "down.trace" => Ok("5\n4\n".to_owned()),
        "good.delays" => Ok("0 31.5\n1000 48\n".to_owned()),
        "empty.trace" => Ok("\n".to_owned()),
        _ => Err("no such file".to_owned()),
    }
}

pub fn parse(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, Errors> {
    let owned: Vec<(String, String)> = overrides
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    Scenario::parse(text, "x.toml", &owned, &mut trace)
}

#[track_caller]
pub fn read(text: &str) -> Scenario {
    parse(text, &[]).unwrap_or_else(|errors| panic!("{errors}"))
}

#[track_caller]
pub fn read_with(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    parse(text, overrides).unwrap_or_else(|errors| panic!("{errors}"))
}

#[track_caller]
pub fn errors(text: &str) -> String {
    errors_with(text, &[])
}

#[track_caller]
pub fn errors_with(text: &str, overrides: &[(&str, &str)]) -> String {
    match parse(text, overrides) {
        Ok(scenario) => panic!("no error: {scenario:?}"),
        Err(errors) => errors.to_string(),
    }
}
