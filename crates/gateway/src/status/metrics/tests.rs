//! Tests of the metrics with an independent parser of the format:
//! https://prometheus.io/docs/instrumenting/exposition_formats/.

use std::collections::{BTreeMap, BTreeSet};

use super::super::examples;
use super::*;

#[derive(Default)]
struct Family {
    kind: String,
    help: String,
    samples: Vec<(BTreeMap<String, String>, f64)>,
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn labels(mut text: &str) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    while !text.is_empty() {
        let (name, rest) = text.split_once("=\"").expect("a label has a value");
        assert!(is_name(name), "label {name:?}");
        let mut value = String::new();
        let mut letters = rest.char_indices();
        let end = loop {
            match letters.next().expect("a value ends") {
                (at, '"') => break at,
                (_, '\\') => match letters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, escaped @ ('\\' | '"'))) => value.push(escaped),
                    other => panic!("escape {other:?}"),
                },
                (_, letter) => value.push(letter),
            }
        };
        assert!(labels.insert(name.to_owned(), value).is_none());
        text = &rest[end + 1..];
        text = text.strip_prefix(',').unwrap_or(text);
    }
    labels
}

fn parse(text: &str) -> BTreeMap<String, Family> {
    assert!(text.ends_with('\n'), "the last line ends, too");
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    let mut seen = BTreeSet::new();
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            let (name, help) = help.split_once(' ').expect("help is not empty");
            assert!(is_name(name), "name {name:?}");
            assert!(!families.contains_key(name), "{name} comes once");
            current = name.to_owned();
            families.entry(current.clone()).or_default().help = help.to_owned();
            continue;
        }
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').expect("a type");
            assert_eq!(name, current, "help and type stand together");
            families.get_mut(name).expect("help first").kind = kind.to_owned();
            continue;
        }
        let (series, value) = line.rsplit_once(' ').expect("a value");
        assert!(seen.insert(series.to_owned()), "{series} comes twice");
        let (name, of) = match series.split_once('{') {
            Some((name, rest)) => (name, labels(rest.strip_suffix('}').expect("closed"))),
            None => (series, BTreeMap::new()),
        };
        assert_eq!(name, current, "samples follow their type");
        let value = value.parse().expect("a number");
        let family = families.get_mut(name).expect("type first");
        family.samples.push((of, value));
    }
    families
}

#[test]
fn the_text_keeps_the_format() {
    let families = parse(&exposition(&examples::proxy()));
    for (name, family) in &families {
        assert!(name.starts_with("ropewalk_"), "{name}");
        assert!(
            !family.help.is_empty() && !family.samples.is_empty(),
            "{name}"
        );
        match family.kind.as_str() {
            "counter" => assert!(name.ends_with("_total"), "{name}"),
            "gauge" => assert!(!name.ends_with("_total"), "{name}"),
            other => panic!("{name} is a {other}"),
        }
    }
}

#[test]
fn numbers_are_those_of_the_document_in_base_units() {
    let document = examples::proxy();
    let families = parse(&exposition(&document));
    let link = &document.associations[0].links[0];
    let of = |name: &str| {
        let (_, value) = families[name]
            .samples
            .iter()
            .find(|(labels, _)| labels.get("link") == Some(&link.name))
            .expect("the link's sample");
        *value
    };
    assert_eq!(of("ropewalk_link_sent_bytes_total"), link.sent_bytes as f64);
    assert_eq!(Some(of("ropewalk_link_rtt_seconds") * 1e3), link.rtt_ms);
    assert_eq!(
        Some(of("ropewalk_link_delivery_rate_bytes_per_second") * 8e-6),
        link.delivery_rate_mbps
    );
}

#[test]
fn a_link_is_in_one_state() {
    let document = examples::proxy();
    let families = parse(&exposition(&document));
    let states = &families["ropewalk_link_state"].samples;
    for (_, link) in document.links() {
        let set: Vec<&str> = states
            .iter()
            .filter(|(labels, value)| labels["link"] == link.name && *value == 1.0)
            .map(|(labels, _)| labels["state"].as_str())
            .collect();
        assert_eq!(set, [link.state.name()], "{}", link.name);
    }
}

#[test]
fn name_of_a_peer_cannot_forge_lines() {
    let hostile = "a\"} 1\nropewalk_forged 1\\";
    let mut document = examples::proxy();
    document.associations[0].peer = hostile.to_owned();
    document.associations[0].links[0].name = hostile.to_owned();
    let families = parse(&exposition(&document));
    assert!(!families.contains_key("ropewalk_forged"));
    let (labels, _) = &families["ropewalk_link_sent_bytes_total"].samples[0];
    assert_eq!(labels["peer"], hostile);
    assert_eq!(labels["link"], hostile);
}

#[test]
fn unknown_value_has_no_sample() {
    let mut document = examples::proxy();
    for link in &mut document.associations[0].links {
        link.rtt_ms = None;
    }
    let text = exposition(&document);
    assert!(!text.contains("link_rtt_seconds"), "{text}");
    assert!(text.contains("link_min_rtt_seconds"), "{text}");
}
