//! JSON Schema of the scenario file, built from the tables of keys.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_transport::algorithm::Description;
use ropewalk_transport::{Config, Profile};
use serde_json::{Map, Value, json};

use crate::algorithm;
use crate::algorithm_ref::NAME;
use crate::keys::{Default, Key, Kind, Shape, TOP, TRANSPORT};
use crate::limits;
use crate::model::Protocol;
use crate::parsed::{Parsed, RANDOM};

/// The JSON Schema (draft 2020-12) of scenario files. It cannot express all checks of
/// [`Scenario::parse`](crate::Scenario::parse), such as constraints between keys and existence of
/// names.
#[must_use]
pub fn schema() -> Value {
    let mut schema = object(&TOP);
    let head = [
        ("$schema", "https://json-schema.org/draft/2020-12/schema"),
        ("title", "Ropewalk scenario"),
        ("description", "One experiment on multipath transport."),
    ];
    if let Value::Object(members) = &mut schema {
        for (name, text) in head {
            members.insert(name.to_owned(), json!(text));
        }
    }
    schema
}

/// Algorithms that `[transport]` may name: for each key all algorithms, with description,
/// specification and parameters.
#[must_use]
pub fn algorithms() -> Value {
    let keys = TRANSPORT.keys().filter_map(|key| match &key.kind {
        Kind::Algorithm(all) => {
            let described: Vec<Value> = all().into_iter().map(described).collect();
            Some((key.name.to_owned(), described.into()))
        }
        _ => None,
    });
    Value::Object(keys.collect())
}

fn described(description: &Description) -> Value {
    let parameters = description.parameters.iter().map(|parameter| {
        let kind = algorithm::kind(parameter);
        json!({
            "name": parameter.name,
            "doc": parameter.doc,
            "source": parameter.source,
            "allowed": kind.allowed(),
            "default": Parsed::from(parameter.kind.default()).to_toml(),
        })
    });
    json!({
        "name": description.name,
        "doc": description.doc,
        "source": description.source,
        "tags": description.tags.iter().map(|tag| tag.name()).collect::<Vec<_>>(),
        "parameters": parameters.collect::<Vec<_>>(),
    })
}

fn object(shape: &Shape) -> Value {
    let properties: Map<String, Value> = shape
        .keys()
        .map(|key| (key.name.to_owned(), property(key)))
        .collect();
    let required: Vec<&str> = shape
        .keys()
        .filter(|key| matches!(key.default, Default::Required))
        .map(|key| key.name)
        .collect();
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    let mut exclusions = Vec::new();
    for alternatives in shape.alternatives {
        let keys = alternatives.keys.iter();
        if alternatives.needed {
            let one: Vec<Value> = keys.map(|key| json!({ "required": [key] })).collect();
            schema["oneOf"] = json!(one);
        } else {
            exclusions.push(json!({ "required": alternatives.keys }));
        }
    }
    match exclusions.as_slice() {
        [] => {}
        [one] => schema["not"] = one.clone(),
        several => schema["not"] = json!({ "anyOf": several }),
    }
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = value(&key.kind);
    if matches!(
        (&key.kind, &key.default),
        (Kind::Tables { .. }, Default::Required)
    ) {
        schema["minItems"] = json!(1);
    }
    let mut description = key.doc.to_owned();
    match &key.default {
        Default::Required => {}
        Default::Toml(toml) => {
            if let Ok(default) = from_toml(toml) {
                schema["default"] = default;
            }
        }
        Default::Words(words) | Default::Derived(_, words) => {
            description.push_str(&format!(" Default: {words}."))
        }
        Default::Profile(field) => {
            let of = |profile: Profile| (field.get)(&Config::profile(profile)).to_toml();
            if let Ok(default) = from_toml(&of(Profile::Linux)) {
                schema["default"] = default;
            }
            let others: Vec<String> = Profile::ALL
                .iter()
                .filter(|profile| of(**profile) != of(Profile::Linux))
                .map(|profile| format!("{} for profile {}", of(*profile), profile.name()))
                .collect();
            if !others.is_empty() {
                description.push_str(&format!(" Default: {}.", others.join(", ")));
            }
        }
    }
    schema["description"] = json!(description);
    schema
}

fn value(kind: &Kind) -> Value {
    match kind {
        Kind::Text => json!({ "type": "string", "maxLength": limits::MAX_TITLE_CHARS }),
        Kind::Trace => json!({ "type": "string", "minLength": 1 }),
        Kind::Name => name(),
        Kind::Pattern => name_or_pattern(),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Integer { least, most } => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::SequenceNumber => json!({ "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": u32::MAX },
            { "const": RANDOM },
        ] }),
        Kind::Number { least, most } => {
            json!({ "type": "number", "minimum": least, "maximum": most })
        }
        Kind::Share => json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 }),
        Kind::Probability => or_zero(pattern(&quantity(&["%".to_owned()]))),
        Kind::Time { .. } => or_zero(time()),
        Kind::Rate => pattern(&quantity(&rate_units())),
        Kind::Capacity => {
            let rate = pattern(&quantity(&rate_units()));
            json!({ "anyOf": [rate, { "const": "unlimited" }] })
        }
        Kind::Bytes { .. } => pattern(&quantity(&byte_units())),
        Kind::BytesOrUnlimited => {
            let size = pattern(&quantity(&byte_units()));
            json!({ "anyOf": [size, { "const": "unlimited" }] })
        }
        Kind::Window => {
            let mut units = byte_units();
            units.extend(["packets?", "segments?"].map(str::to_owned));
            pattern(&quantity(&units))
        }
        Kind::PacketBuffer => {
            let mut units = byte_units();
            units.push("packets?".to_owned());
            pattern(&quantity(&units))
        }
        Kind::Queue => {
            let mut units = byte_units();
            units.extend(["packets?", "bdp"].map(str::to_owned));
            or_zero(pattern(&quantity(&units)))
        }
        Kind::Word(words) => {
            let mut words = words();
            let aliases = Protocol::ALIASES
                .iter()
                .filter(|(_, name)| words.contains(name));
            let aliases: Vec<&str> = aliases.map(|(alias, _)| *alias).collect();
            words.extend(aliases);
            json!({ "type": "string", "enum": words })
        }
        Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        Kind::Algorithm(all) => one_of(&all()),
        Kind::Names { of, most } => json!({
            "type": "array", "items": value(of), "minItems": 1, "maxItems": most, "uniqueItems": true,
        }),
        Kind::Outages => {
            let end = or_zero(time());
            let pair = json!({ "type": "array", "items": end, "minItems": 2, "maxItems": 2 });
            json!({ "type": "array", "items": pair, "maxItems": limits::MAX_OUTAGES })
        }
        Kind::Table { shape, short } => {
            let mut table = object(shape);
            match short.and_then(|short| shape.key(short)) {
                Some(short) => {
                    // For readers of the schema: the key whose value may replace the table.
                    table["x-short"] = short.name.into();
                    json!({ "anyOf": [value(&short.kind), table] })
                }
                None => table,
            }
        }
        Kind::Measure(measure) => pattern(&measure.pattern()),
        Kind::Either { words, kind } => {
            json!({ "anyOf": [{ "type": "string", "enum": words }, value(kind)] })
        }
        Kind::List { of, least, most } => json!({
            "type": "array", "items": value(of), "minItems": least, "maxItems": most,
        }),
        Kind::Entries { shape, short, most } => {
            let alone = shape.key(short).map_or(json!({}), |key| value(&key.kind));
            json!({
                "type": "array", "items": { "anyOf": [alone, object(shape)] }, "maxItems": most,
            })
        }
        Kind::Tables { shape, most } => {
            json!({ "type": "array", "items": object(shape), "maxItems": most })
        }
    }
}

fn one_of(all: &[&'static Description]) -> Value {
    let names = |all: &mut dyn Iterator<Item = &&'static Description>| -> Vec<&str> {
        all.map(|one| one.name).collect()
    };
    let mut kinds = vec![json!({ "type": "string", "enum": names(&mut all.iter()) })];
    let with = all.iter().filter(|one| !one.parameters.is_empty());
    kinds.extend(with.map(|one| with_parameters(one)));
    let without = names(&mut all.iter().filter(|one| one.parameters.is_empty()));
    if !without.is_empty() {
        kinds.push(algorithm_table(json!({ NAME: { "enum": without } })));
    }
    json!({ "anyOf": kinds })
}

fn with_parameters(description: &Description) -> Value {
    let mut properties = json!({ NAME: { "enum": [description.name] } });
    for parameter in description.parameters {
        let mut schema = value(&algorithm::kind(parameter));
        schema["description"] = json!(format!("{} ({})", parameter.doc, parameter.source));
        let default = Parsed::from(parameter.kind.default());
        if let Ok(default) = from_toml(&default.to_toml()) {
            schema["default"] = default;
        }
        properties[parameter.name] = schema;
    }
    let mut table = algorithm_table(properties);
    table["description"] = json!(format!("{} ({})", description.doc, description.source));
    table
}

fn algorithm_table(properties: Value) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
        "required": [NAME],
    })
}

fn name() -> Value {
    json!({
        "type": "string",
        "minLength": 1,
        "maxLength": limits::MAX_NAME_CHARS,
        "pattern": r"^[^/.*\u0000-\u001f]+$",
    })
}

fn name_or_pattern() -> Value {
    let mut schema = name();
    schema["pattern"] = r"^[^/.*\u0000-\u001f]*\*?[^/.*\u0000-\u001f]*$".into();
    schema
}

fn time() -> Value {
    let units: Vec<String> = Time::UNITS
        .iter()
        .map(|(unit, _)| (*unit).to_owned())
        .collect();
    pattern(&quantity(&units))
}

/// In upper or lower case, with or without `/s`.
fn rate_units() -> Vec<String> {
    let any_case = |unit: &str| -> String {
        let both = |c: char| format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase());
        unit.chars().map(both).collect()
    };
    let unit = |(unit, _): &(&str, u64)| format!("{}(?:/[sS])?", any_case(unit));
    Rate::UNITS.iter().map(unit).collect()
}

fn byte_units() -> Vec<String> {
    Bytes::UNITS
        .iter()
        .map(|(unit, _)| (*unit).to_owned())
        .collect()
}

/// A number with one of these units, or a bare zero.
fn quantity(units: &[String]) -> String {
    let units = units.join("|");
    format!(r"^\s*(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)\s*(?:{units})|0+\.?0*|\.0+)\s*$")
}

fn pattern(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn or_zero(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "const": 0 }] })
}

fn from_toml(text: &str) -> Result<Value, toml_edit::TomlError> {
    Ok(match text.parse()? {
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(value) => json!(value.value()),
        toml_edit::Value::Array(_) => json!([]),
        other => json!(other.as_str()),
    })
}
