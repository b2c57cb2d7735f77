//! Algorithms by name, or with parameters: `scheduler = { name = "blest", lambda = 1.2 }`.

use ropewalk_transport::algorithm::{self, Description, Parameter, Value};
use ropewalk_transport::{CongestionConfig, ReorderingConfig, SchedulerConfig, SinglePathConfig};

use crate::algorithm_ref::{AlgorithmRef, Algorithms, NAME, names};
use crate::document::{Entry, Node};
use crate::error::Problem;
use crate::keys::Kind;
use crate::parsed::{Parsed, ParsedType};
use crate::report::Report;
use crate::suggest::nearest;
use crate::value::quoted;

macro_rules! held {
    ($($config:ty,)*) => {$(
        impl ParsedType for $config {
            fn from_parsed(parsed: &Parsed) -> Option<$config> {
                match parsed {
                    Parsed::Algorithm(chosen) => chosen.config(),
                    _ => None,
                }
            }
            fn to_parsed(&self) -> Parsed {
                Parsed::Algorithm(AlgorithmRef::of(self))
            }
        }
    )*};
}

held! {
    CongestionConfig, ReorderingConfig, SchedulerConfig, SinglePathConfig,
}

pub(crate) fn kind(parameter: &Parameter) -> Kind {
    match parameter.kind {
        algorithm::Kind::Number { least, most, .. } => Kind::Number { least, most },
        algorithm::Kind::Integer { least, most, .. } => Kind::Integer { least, most },
        algorithm::Kind::Boolean { .. } => Kind::Boolean,
        algorithm::Kind::Time { least, most, .. } => Kind::Time { least, most },
        algorithm::Kind::Word { words, .. } => Kind::OneOf(words),
    }
}

pub(crate) fn read_table(
    all: Algorithms,
    entry: &Entry,
    entries: &[Entry],
    path: &str,
    report: &mut Report,
) -> Parsed {
    let Some(name) = entries.iter().find(|inner| inner.key == NAME) else {
        let error = report.error(entry.node.origin, &inner_path(path, NAME), Problem::Missing);
        error.allowed = Some(quoted(names(all)));
        return Parsed::Invalid;
    };
    let named = name.node.text().and_then(|text| find(all, text));
    let Some(description) = named else {
        let inner = inner_path(path, NAME);
        let wrong = Kind::Algorithm(all).read(&name.node);
        if let Err(wrong) = wrong {
            let error = report.error(name.node.origin, &inner, wrong.problem);
            error.value = Some(name.node.shown());
            error.suggestion = wrong.suggestion;
            error.allowed = Some(quoted(names(all)));
        }
        return Parsed::Invalid;
    };
    let others = entries.iter().filter(|inner| inner.key != NAME);
    let read: Vec<_> = others
        .map(|inner| read_parameter(description, inner, path, report))
        .collect();
    let Some(parameters) = read.into_iter().collect() else {
        return Parsed::Invalid;
    };
    Parsed::Algorithm(AlgorithmRef {
        name: description.name.to_owned(),
        parameters,
    })
}

fn read_parameter(
    description: &'static Description,
    entry: &Entry,
    path: &str,
    report: &mut Report,
) -> Option<(&'static str, Value)> {
    let shown: String = entry.key.chars().take(64).collect();
    let path = inner_path(path, &shown);
    let Some(parameter) = parameter(description, &entry.key) else {
        let problem = Problem::UnknownParameter(description.name);
        let error = report.error(entry.origin, &path, problem);
        let names = description.parameters.iter().map(|one| one.name);
        error.suggestion = nearest(&entry.key, names);
        error.allowed = Some(parameter_names(description));
        return None;
    };
    match read_value(parameter, &entry.node) {
        Ok(value) => Some((parameter.name, value)),
        Err(wrong) => {
            let error = report.error(entry.node.origin, &path, wrong.problem);
            error.value = Some(entry.node.shown());
            error.suggestion = wrong.suggestion;
            error.allowed = Some(kind(parameter).allowed());
            None
        }
    }
}

fn read_value(parameter: &Parameter, node: &Node) -> Result<Value, crate::value::InvalidValue> {
    let parsed = kind(parameter).read(node)?;
    Ok(match (parsed, parameter.kind) {
        (Parsed::Number(number), _) => Value::Number(number),
        (Parsed::Integer(number), _) => Value::Integer(number),
        (Parsed::Boolean(value), _) => Value::Boolean(value),
        (Parsed::Time(time), _) => Value::Time(time),
        (Parsed::Text(text), algorithm::Kind::Word { default, words }) => {
            let word = words.iter().find(|word| **word == text);
            Value::Word(word.copied().unwrap_or(default))
        }
        _ => parameter.kind.default(),
    })
}

pub(crate) fn find(all: Algorithms, name: &str) -> Option<&'static Description> {
    all().into_iter().find(|one| one.name == name)
}

pub(crate) fn parameter(
    description: &'static Description,
    name: &str,
) -> Option<&'static Parameter> {
    description.parameters.iter().find(|one| one.name == name)
}

/// Parameter names of an algorithm as a list, for error messages.
pub(crate) fn parameter_names(description: &Description) -> String {
    if description.parameters.is_empty() {
        return "name alone".to_owned();
    }
    let names = description.parameters.iter().map(|one| one.name);
    let all: Vec<&str> = std::iter::once(NAME).chain(names).collect();
    all.join(", ")
}

fn inner_path(path: &str, key: &str) -> String {
    format!("{path}.{key}")
}
