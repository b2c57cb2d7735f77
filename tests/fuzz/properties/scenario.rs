//! Properties of arbitrary bytes as a scenario file, for the fuzz target and the replay of its
//! corpus.

use ropewalk_scenario::{Errors, Scenario, decode, effective};

/// A scenario is parsed or rejected with a message; a parsed one is equal after writing and parsing
/// again.
///
/// Lines such as `# --set link.wifi.delay=5ms` are overrides. Returns the scenario or the errors.
pub fn check(bytes: &[u8]) -> Result<Scenario, Errors> {
    let text = decode(bytes, "corpus.toml")?;
    let overrides: Vec<(String, String)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# --set ")?.split_once('='))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect();
    let read = |text: &str, overrides: &[(String, String)]| {
        Scenario::parse(text, "corpus.toml", overrides, &mut trace)
    };
    let scenario = read(text, &overrides);
    match &scenario {
        Err(errors) => assert!(!errors.to_string().is_empty()),
        Ok(scenario) => {
            let used = effective(text, "corpus.toml", &overrides).expect("it has been read");
            assert_eq!(read(&used, &[]).as_ref(), Ok(scenario), "{used}");

            let whole = scenario.to_toml();
            let mut again = read(&whole, &[]).unwrap_or_else(|errors| panic!("{errors}\n{whole}"));
            again.warnings.clone_from(&scenario.warnings);
            assert_eq!(&again, scenario, "{whole}");
        }
    }
    scenario
}

fn trace(name: &str) -> Result<String, String> {
    match name {
        "absent" => Err("no such file".to_owned()),
        "broken" => Ok("1\n0\n".to_owned()),
        _ => Ok("0\n4\n9\n".to_owned()),
    }
}
