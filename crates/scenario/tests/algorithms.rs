//! Algorithms by name, and with parameters.

mod reading;

use reading::{TWO_LINKS, errors, errors_with, read, read_with};
use ropewalk_scenario::{algorithms, effective};
use ropewalk_transport::scheduling::blest::BlestConfig;
use ropewalk_transport::{CongestionConfig, SchedulerConfig, SinglePathConfig};

fn transport(lines: &str) -> String {
    format!("{TWO_LINKS}[transport]\n{lines}\n")
}

fn scheduler(text: &str, overrides: &[(&str, &str)]) -> SchedulerConfig {
    read_with(text, overrides)
        .measured_flow()
        .transport
        .scheduler
        .clone()
}

#[test]
fn a_table_sets_parameters_and_leaves_the_others() {
    let text = transport("scheduler = { name = 'blest', lambda = 1.5, fall = 0 }");
    let expected = BlestConfig {
        lambda: 1.5,
        fall: 0.0,
        ..BlestConfig::DEFAULT
    };
    assert_eq!(scheduler(&text, &[]), expected.into());
    let plain = transport("scheduler = { name = 'blest' }");
    assert_eq!(scheduler(&plain, &[]), BlestConfig::DEFAULT.into());
    let text = transport(
        "congestion = { name = 'cubic', beta = 0.5, fast_convergence = false }\nscheduler = 'ecf'",
    );
    let SchedulerConfig::Ecf(ecf) = scheduler(&text, &[("transport.scheduler.beta", "0.5")]) else {
        panic!("not ecf")
    };
    assert_eq!(ecf.beta, 0.5);
    let CongestionConfig::SinglePath(SinglePathConfig::Cubic(cubic)) =
        read(&text).measured_flow().transport.congestion
    else {
        panic!("not cubic")
    };
    assert_eq!(
        (cubic.c, cubic.beta, cubic.fast_convergence),
        (0.4, 0.5, false)
    );
}

#[test]
fn an_override_sets_a_parameter_after_a_name_or_in_a_table() {
    let named = transport("scheduler = 'blest'");
    let table = transport("scheduler = { name = 'blest', rise = 0.1 }");
    let set = [("transport.scheduler.lambda", "1.3")];
    for text in [&named, &table] {
        let SchedulerConfig::Blest(blest) = scheduler(text, &set) else {
            panic!("not blest")
        };
        assert_eq!(blest.lambda, 1.3);
    }
    let both = [("transport.scheduler", "blest"), set[0]];
    assert!(
        matches!(scheduler(TWO_LINKS, &both), SchedulerConfig::Blest(one) if one.lambda == 1.3)
    );
    let other = [("transport.scheduler", "ecf")];
    assert_eq!(scheduler(&table, &other).name(), "ecf");
    let owned = set.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let text = effective(&named, "x", &owned).unwrap();
    assert!(
        text.contains("scheduler = { name = \"blest\", lambda = 1.3 }"),
        "{text}"
    );
}

#[test]
fn competitors_take_parameters_too() {
    let competitor =
        "[[competitor]]\npath = 'wifi'\ncongestion = { name = 'newreno', beta = 0.8 }\n";
    let scenario = read(&format!("{TWO_LINKS}{competitor}"));
    let written = scenario.to_toml();
    let line = "congestion = { name = \"newreno\", beta = 0.8 }";
    assert!(written.contains(line), "{written}");
    assert_eq!(read(&written), scenario);
    let values = scenario.to_json();
    let values = &values["competitor"][0];
    assert_eq!(values["congestion"], "newreno");
    assert_eq!(values["congestion_parameters"]["beta"], 0.8);
    assert!(values.get("scheduler_parameters").is_none());
}

#[test]
fn invalid_parameter_error_suggests_word() {
    let at = format!("x.toml:{}:", TWO_LINKS.lines().count() + 2);
    let cases = [
        (
            "scheduler = { name = 'blest', lamda = 1.2 }",
            "transport.scheduler.lamda: unknown parameter of blest; allowed: name, lambda, min_lambda, \
             max_lambda, rise, fall; did you mean \"lambda\"?",
        ),
        (
            "scheduler = { name = 'min-rtt', lambda = 1.2 }",
            "transport.scheduler.lambda: unknown parameter of min-rtt; allowed: name alone",
        ),
        (
            "scheduler = { name = 'blest', lambda = '1.2' }",
            "transport.scheduler.lambda = \"1.2\": must not be a string; allowed: a number from 0 to 100",
        ),
        (
            "congestion = { name = 'cubic', beta = 1 }",
            "transport.congestion.beta = 1: must be at most 0.95; allowed: a number from 0.1 to 0.95",
        ),
        (
            "scheduler = { name = 'blast' }",
            "transport.scheduler.name = \"blast\": unknown value; allowed: \"min-rtt\", ",
        ),
        (
            "scheduler = { lambda = 1.2 }",
            "transport.scheduler.name: missing; allowed: \"min-rtt\", ",
        ),
        (
            "scheduler = 7",
            "transport.scheduler = 7: must not be an integer; allowed: \"min-rtt\", ",
        ),
    ];
    for (line, expected) in cases {
        let found = errors(&transport(line));
        assert!(found.starts_with(&at), "{line}: {found}");
        assert!(found.contains(expected), "{line}: {found}");
    }
    let set = [("transport.scheduler.lamda", "1.3")];
    let found = errors_with(&transport("scheduler = 'blest'"), &set);
    assert!(found.contains("unknown parameter of blest"), "{found}");
    assert!(found.contains("did you mean \"lambda\"?"), "{found}");
    let deeper = [("transport.scheduler.lambda.x", "1")];
    let found = errors_with(&transport("scheduler = 'blest'"), &deeper);
    assert!(
        found.contains("is inside a value that is not a table"),
        "{found}"
    );
}

#[test]
fn every_algorithm_is_described() {
    let all = algorithms();
    for key in ["congestion", "subflow", "scheduler", "reordering"] {
        let declared = all[key].as_array().unwrap();
        assert!(!declared.is_empty(), "{key}");
        for one in declared {
            let parameters = one["parameters"].as_array().unwrap();
            for described in std::iter::once(one).chain(parameters) {
                for text in ["name", "doc", "source"] {
                    assert!(!described[text].as_str().unwrap().is_empty(), "{described}");
                }
            }
        }
    }
}
