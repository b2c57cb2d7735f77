//! Captures of whole runs, read back.

mod packets;
mod qlog;
mod refused;

use ropewalk_scenario::Scenario;

const TWO_LINKS: &str = r#"
duration = "20 s"
[[link]]
name = "wifi"
rate = "20 Mbit/s"
delay = "5 ms"
loss = "0.3 %"
queue = "10 packets"
[[link]]
name = "lte"
rate = "10 Mbit/s"
delay = "20 ms"
[traffic]
kind = "bulk"
size = "2 MB"
"#;

fn scenario(text: &str, changes: &[(&str, &str)]) -> Scenario {
    let changes: Vec<(String, String)> = changes
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    let mut no_files = |_: &str| Err("no files here".to_owned());
    Scenario::parse(text, "test.toml", &changes, &mut no_files).expect("a right scenario")
}
