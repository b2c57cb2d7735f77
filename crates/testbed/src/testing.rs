//! Scenarios for the tests of several modules.

use ropewalk_scenario::Scenario;

pub(crate) fn scenario(text: &str) -> Scenario {
    let mut no_traces = |_: &str| Err("none".to_owned());
    Scenario::parse(text, "test.toml", &[], &mut no_traces).unwrap()
}

/// Two links, and more lines.
pub(crate) fn two_links(more: &str) -> Scenario {
    scenario(&format!(
        "[[link]]\nname = \"a\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[link]]\nname = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"1 ms\"\n{more}"
    ))
}
