//! Suggestions in errors, and warnings of links that deliver nothing.

use ropewalk_scenario::Scenario;

const LINKS: &str = r#"
duration = "5 s"
[[link]]
name = "wifi"
rate = "30 Mbit/s"
delay = "20 ms"
[[link]]
name = "lte"
rate = "15 Mbit/s"
delay = "60 ms"
"#;

fn parse(text: &str, overrides: &[(&str, &str)]) -> Result<Scenario, String> {
    let owned = |text: &&str| (*text).to_owned();
    let overrides: Vec<(String, String)> = overrides
        .iter()
        .map(|(key, value)| (owned(key), owned(value)))
        .collect();
    let mut read = |name: &str| match name {
        "empty.trace" => Ok(String::new()),
        "zero.trace" => Ok("0\n0\n".to_owned()),
        "table.csv" => Ok("time,Mbit/s\n0,10\n".to_owned()),
        "late.trace" => Ok("500000\n".to_owned()),
        _ => Err("no such file".to_owned()),
    };
    Scenario::parse(text, "x.toml", &overrides, &mut read).map_err(|errors| errors.to_string())
}

fn error(overrides: &[(&str, &str)]) -> String {
    parse(LINKS, overrides).expect_err("wrong")
}

#[test]
fn bare_percentage_error_shows_both_readings() {
    for (value, meant) in [
        ("0.5", r#"must have a unit, such as "0.5 %" or "50 %";"#),
        (
            "'0.001'",
            r#"must have a unit, such as "0.001 %" or "0.1 %";"#,
        ),
        ("1", r#"must have a unit, such as "1 %" or "100 %";"#),
        ("2", r#"must have a unit, such as "2 %";"#),
        ("'0.29'", r#"such as "0.29 %" or "29 %";"#),
    ] {
        for key in ["link.wifi.loss", "link.*.loss", "link.wifi.reverse.loss"] {
            let error = error(&[(key, value)]);
            assert!(error.contains(meant), "{key} = {value}: {error}");
            assert!(
                error.contains(r#"allowed: a percentage such as "0.1 %""#),
                "{error}"
            );
        }
    }
    for key in ["p", "r", "h", "k"] {
        let table =
            |value: &str| format!("{{ model = 'gilbert-elliott', p = '1 %', {key} = {value} }}");
        let table = match key {
            "p" => "{ model = 'gilbert-elliott', p = 0.3 }".to_owned(),
            _ => table("0.3"),
        };
        let error = error(&[("link.wifi.loss", &table)]);
        assert!(
            error.contains(r#"such as "0.3 %" or "30 %""#),
            "{key}: {error}"
        );
    }
    for value in ["0", "0.0", "'0 %'", "'0'"] {
        assert!(
            parse(LINKS, &[("link.wifi.loss", value)]).is_ok(),
            "{value}"
        );
    }
}

#[test]
fn trace_of_another_format_is_told_the_format() {
    for (file, problem) in [
        ("empty.trace", "the file is empty"),
        ("zero.trace", "no delivery opportunity after 0 ms"),
        (
            "table.csv",
            r#"line 1: "time,Mbit/s" is not a whole number of milliseconds"#,
        ),
    ] {
        let error = error(&[("link.wifi.trace", file)]);
        let expected = format!("link.wifi.trace = {file:?}: {problem}; allowed: mahimahi's format");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn short_override_error_names_full_key() {
    for (key, whole) in [
        ("delay", "allowed: link.wifi.delay, link.*.delay"),
        (
            "jitter.amount",
            "allowed: link.wifi.jitter.amount, link.*.jitter.amount",
        ),
        ("wifi.delay", "allowed: link.wifi.delay"),
        ("lte.rate", "allowed: link.lte.rate"),
        ("congestion", "allowed: transport.congestion"),
        ("size", "allowed: traffic.size"),
    ] {
        let error = error(&[(key, "60ms")]);
        assert!(error.contains(whole), "{key}: {error}");
        assert!(!error.contains("did you mean"), "{key}: {error}");
    }
}

#[test]
fn misplaced_key_error_names_table() {
    for (text, place) in [
        (
            "delay = '5 ms'\n[[link]]\nname = 'a'\nrate = '1 Mbit/s'\n",
            "x.toml:1:1: delay: unknown key; allowed: in [[link]]",
        ),
        (
            "[[link]]\nname = 'a'\nrate = '1 Mbit/s'\nduration = '5 s'\n",
            "link.a.duration: unknown key; allowed: above all tables",
        ),
        (
            "[[link]]\nname = 'a'\nrate = '1 Mbit/s'\n[transport]\nloss = '1 %'\n",
            "transport.loss: unknown key; allowed: in [[link]]",
        ),
    ] {
        let error = parse(text, &[]).expect_err("wrong");
        assert!(error.contains(place), "{error}");
    }
}

#[test]
fn table_instead_of_list_error_shows_brackets() {
    let text = "[link]\nname = 'a'\nrate = '1 Mbit/s'\n[link]\nname = 'b'\nrate = '1 Mbit/s'\n";
    let error = parse(text, &[]).expect_err("wrong");
    assert!(error.contains("x.toml:4:"), "{error}");
    assert!(
        error.contains("allowed: tables, each under [[link]]"),
        "{error}"
    );
    let error = parse("[transport]\n[transport]\n", &[]).expect_err("wrong");
    assert!(!error.contains("each under"), "{error}");
}

#[test]
fn link_that_delivers_nothing_is_warned_of() {
    for (key, value, warning) in [
        (
            "link.wifi.loss",
            "100 %",
            "link.wifi.loss: every packet is lost",
        ),
        (
            "link.wifi.reverse.loss",
            "100 %",
            "link.wifi.reverse.loss: every packet is lost",
        ),
        (
            "link.wifi.loss",
            "{ model = 'gilbert-elliott', p = '1 %', k = '0 %' }",
            "link.wifi.loss: every packet is lost",
        ),
        (
            "link.wifi.rate",
            "1 bit/s",
            "link.wifi.rate: 1 bit/s takes 12000 s for a packet",
        ),
        (
            "link.wifi.trace",
            "late.trace",
            "link.wifi.trace: its first chance to send comes after 500 s, and the run ends after 5 s",
        ),
        (
            "link.wifi.down",
            "[['0 s', '2 s'], ['2 s', '9 s']]",
            "link.wifi.down: the link is down during the entire run (5 s)",
        ),
        (
            "link.*.delay",
            "2 s",
            "path \"wifi\": its first data arrive 6 s after the start at the earliest",
        ),
    ] {
        let scenario = parse(LINKS, &[(key, value)]).unwrap();
        let found = scenario
            .warnings
            .iter()
            .any(|found| found.starts_with(warning));
        assert!(found, "{key} = {value}: {:?}", scenario.warnings);
    }
    for (key, value) in [
        ("link.wifi.loss", "99.9 %"),
        (
            "link.wifi.loss",
            "{ model = 'gilbert-elliott', p = '1 %', r = '30 %' }",
        ),
        ("link.wifi.down", "[['0 s', '2 s'], ['3 s', '9 s']]"),
        ("link.*.delay", "1 s"),
    ] {
        let scenario = parse(LINKS, &[(key, value)]).unwrap();
        assert!(
            scenario.warnings.is_empty(),
            "{key} = {value}: {:?}",
            scenario.warnings
        );
    }
}
