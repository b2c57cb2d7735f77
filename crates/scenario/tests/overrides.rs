//! Overrides (`--set key=value`): the file's checks, and the effective scenario.

mod reading;

use reading::{TWO_LINKS, errors_with, parse, read, read_with};
use ropewalk_network::{Capacity, Jitter, Loss};
use ropewalk_quantities::{Rate, Time};
use ropewalk_scenario::effective;

#[test]
fn override_value_is_toml_or_text() {
    let scenario = read_with(
        TWO_LINKS,
        &[
            ("link.wifi.delay", "50ms"),
            ("link.lte.delay", "\"60 ms\""),
            ("transport.congestion", "lia"),
            ("duration", "10s"),
            ("transport.sack", "false"),
            ("link.wifi.loss", "1%"),
            ("title", "2026"),
        ],
    );
    assert_eq!(scenario.links[0].forward.delay, Time::from_millis(50));
    assert_eq!(scenario.links[0].reverse.delay, Time::from_millis(50));
    assert_eq!(scenario.links[1].forward.delay, Time::from_millis(60));
    assert_eq!(scenario.measured_flow().transport.congestion.name(), "lia");
    assert_eq!(scenario.duration, Time::from_secs(10));
    assert!(!scenario.measured_flow().transport.extensions.sack);
    assert_eq!(scenario.links[0].forward.loss, Loss::Bernoulli(0.01));
    assert_eq!(scenario.title, "2026");
}

#[test]
fn a_star_means_all() {
    let scenario = read_with(TWO_LINKS, &[("link.*.loss", "1%")]);
    for link in &scenario.links {
        assert_eq!(link.forward.loss, Loss::Bernoulli(0.01));
    }
}

#[test]
fn override_creates_missing_tables() {
    let text = format!("{TWO_LINKS}loss = '1 %'\njitter = '5 ms'\n");
    let scenario = read_with(
        &text,
        &[
            ("link.wifi.loss.p", "10 %"),
            ("link.lte.loss.model", "gilbert-elliott"),
            ("link.lte.loss.r", "50 %"),
            ("link.lte.jitter.reorder", "true"),
            ("link.wifi.reverse.delay", "20ms"),
            ("link.wifi.reverse.loss.p", "20 %"),
        ],
    );
    assert_eq!(scenario.links[0].forward.loss, Loss::Bernoulli(0.1));
    assert_eq!(scenario.links[0].reverse.loss, Loss::Bernoulli(0.2));
    assert_eq!(scenario.links[0].reverse.delay, Time::from_millis(20));
    assert_eq!(
        scenario.links[1].forward.loss,
        Loss::GilbertElliott {
            p: 0.01,
            r: 0.5,
            h: 0.0,
            k: 1.0
        }
    );
    let amount = Time::from_millis(5);
    assert_eq!(
        scenario.links[1].forward.jitter,
        Some(Jitter::Uniform {
            amount,
            reorder: true
        })
    );
}

#[test]
fn paths_and_competitors_by_name() {
    let text = format!(
        "{TWO_LINKS}[[path]]\nname = 'p'\nhops = ['wifi']\n[[competitor]]\npath = 'p'\n[[competitor]]\nname = 'bob'\npath = 'p'"
    );
    let scenario = read_with(
        &text,
        &[
            ("path.p.hops", "[\"wifi\", \"lte\"]"),
            ("competitor.competitor-1.count", "2"),
            ("competitor.bob.count", "3"),
        ],
    );
    assert_eq!(scenario.paths[0].hops, [0, 1]);
    assert_eq!(scenario.flows[1].count, 2);
    assert_eq!(scenario.flows[2].count, 3);
}

#[test]
fn links_in_one_line_can_be_overridden_too() {
    let text = "link = [{ name = 'a', rate = '1mbit', delay = '1ms' }]";
    let scenario = read_with(text, &[("link.a.rate", "2mbit"), ("link.a.down", "[]")]);
    let two = Capacity::Rate(Rate::from_bps(2_000_000));
    assert_eq!(scenario.links[0].forward.capacity, two);
}

#[test]
fn override_replaces_excluded_key() {
    let text = "[[link]]\nname = 'a'\nrate = '1mbit'\nreverse = { trace = 'good.trace' }\n\
        [[link]]\nname = 'b'\ntrace = 'good.trace'\n\
        [[competitor]]\nprotocol = 'mptcp'\npaths = ['a', 'b']\n";
    let overrides = [
        ("link.a.trace", "good.trace"),
        ("link.a.reverse.rate", "3mbit"),
        ("link.b.rate", "2mbit"),
        ("competitor.*.path", "b"),
    ];
    let scenario = read_with(text, &overrides);
    let [a, b] = &scenario.links[..] else {
        panic!("two links")
    };
    let rate = |mbps: u64| Capacity::Rate(Rate::from_bps(mbps * 1_000_000));
    assert!(matches!(a.forward.capacity, Capacity::Trace(_)));
    assert_eq!(a.reverse.capacity, rate(3));
    assert_eq!(b.forward.capacity, rate(2));
    assert_eq!(scenario.flows[1].paths, [1]);

    let owned = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let used = effective(text, "x.toml", &owned).unwrap();
    assert_eq!(read(&used), scenario);

    // The last one wins, as with a key set twice.
    let scenario = read_with(
        text,
        &[("link.*.trace", "good.trace"), ("link.b.rate", "9mbit")],
    );
    assert_eq!(scenario.links[1].forward.capacity, rate(9));
}

#[test]
fn errors_name_the_override() {
    let rows = [
        ("link.wifi.delay", "-5ms"),
        ("link.*.loss", "120%"),
        ("link.wify.delay", "5ms"),
        ("link.wifi.dealy", "5ms"),
        ("link.wifi.colour", "red"),
        ("link.wifi", "{}"),
        ("link.wifi.delay.amount", "5ms"),
        ("lnik.wifi.delay", "5ms"),
        ("path.wifi.hops", "[\"lte\"]"),
        ("competitor.*.count", "3"),
        ("duration.x", "5s"),
        ("", "5"),
        ("transport", "tcp"),
        ("transport.sack", "no"),
        ("transport.scheduler", "minrtt"),
        ("traffic.size", "64k"),
        ("link", "[]"),
    ];
    let said = rows.map(|(key, value)| {
        let said = errors_with(TWO_LINKS, &[(key, value)]).replace('\n', "\n    ");
        format!("{key}={value}\n    {said}\n")
    });
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(said.concat());
    });
}

#[test]
fn effective_keeps_comments_and_order() {
    let text = "# mine\n[[link]]\nname = \"wifi\" # at home\nrate = \"20 Mbit/s\"\ndelay = \"10 ms\" # one way\nloss = \"1 %\"\n";
    let overrides = [
        ("link.wifi.delay", "50ms"),
        ("link.wifi.loss.model", "gilbert-elliott"),
        ("link.wifi.reverse.delay", "5ms"),
        ("transport.sack", "false"),
        ("duration", "10s"),
    ];
    let owned = overrides.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let used = effective(text, "x.toml", &owned).unwrap();
    assert_eq!(
        used,
        r#"duration = "10s"
# mine
[[link]]
name = "wifi" # at home
rate = "20 Mbit/s"
delay = "50ms" # one way
loss = { p = "1 %", model = "gilbert-elliott" }
reverse = { delay = "5ms" }

[transport]
sack = false
"#
    );
    assert_eq!(read(&used), parse(text, &overrides).unwrap());
}

#[test]
fn flows_are_overridden_by_name() {
    let text = format!("{TWO_LINKS}[[flow]]\nname = 'video'\n[[flow]]\nname = 'news'\n");
    let sets = [
        ("flow.*.sack", "false"),
        ("flow.video.congestion", "lia"),
        ("flow.news.traffic.size", "1 MB"),
    ];
    let scenario = read_with(&text, &sets);
    let [video, news] = scenario.flows.as_slice() else {
        panic!("{scenario:?}")
    };
    assert!(!video.transport.extensions.sack && !news.transport.extensions.sack);
    assert_eq!(video.transport.congestion.name(), "lia");
    assert_ne!(video.traffic, news.traffic);
    let errors = |key: &str| errors_with(&text, &[(key, "1")]);
    assert_eq!(
        errors("transport.congestion"),
        "--set: transport.congestion: the file has [[flow]] entries in place of [transport] and [traffic]; \
         allowed: flow.video.congestion"
    );
    assert_eq!(
        errors("traffic.size"),
        "--set: traffic.size: the file has [[flow]] entries in place of [transport] and [traffic]; \
         allowed: flow.video.traffic.size"
    );
    assert_eq!(
        errors("flow.vidoe.sack"),
        "--set: flow.vidoe.sack: no flow is called \"vidoe\"; allowed: \"video\", \"news\"; did you mean \"video\"?"
    );
}
