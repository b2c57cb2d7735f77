//! Overrides (`--set link.wifi.delay=50ms`), applied before any value is checked.

use toml_edit::InlineTable;

use crate::algorithm;
use crate::algorithm_ref::{Algorithms, NAME};
use crate::document::{Node, Origin, Value};
use crate::edit::{Edit, Step};
use crate::error::Problem;
use crate::full_keys::overrides_with;
use crate::keys::{Key, Kind, Shape, TOP};
use crate::limits::MAX_OVERRIDE_BYTES;
use crate::report::Report;
use crate::section::{element_name, name_list};
use crate::suggest::nearest;

/// Applies overrides in order, and reports unknown keys. Returns the changes.
pub(crate) fn apply(
    root: &mut Node,
    overrides: &[(String, String)],
    report: &mut Report,
) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (path, value) in overrides {
        if value.len() > MAX_OVERRIDE_BYTES {
            let problem = Problem::FileTooLarge { most: "64 KiB" };
            report.error(Origin::Override, &shortened(path), problem);
            continue;
        }
        match resolve(root, path) {
            Ok(targets) => {
                for target in targets {
                    let made = target.edits(root, value);
                    made.iter().for_each(|edit| edit.apply(root));
                    edits.extend(made);
                }
            }
            Err(lost) => {
                let error = report.error(Origin::Override, &shortened(path), lost.problem);
                error.allowed = lost.allowed;
                error.suggestion = lost.suggestion;
            }
        }
    }
    edits
}

struct Target {
    steps: Vec<Step>,
    /// The value is always a text, even if it resembles a number or boolean.
    is_text: bool,
    /// For a short form of a table on the path: the number of steps to it, and its key.
    short: Option<(usize, &'static str)>,
    /// Keys in the same table that this one excludes and removes.
    replaced: Vec<&'static str>,
}

struct OverrideError {
    problem: Problem,
    allowed: Option<String>,
    suggestion: Option<String>,
}

impl Target {
    fn edits(&self, root: &Node, text: &str) -> Vec<Edit> {
        let mut edits = Vec::new();
        if let Some((depth, short)) = self.short {
            let steps = &self.steps[..depth];
            // `loss = "1 %"` becomes `loss = { p = "1 %" }`, which can have `loss.r`.
            if let Some(old) = find(root, steps).and_then(scalar) {
                let mut table = InlineTable::new();
                table.insert(short, old);
                edits.push(Edit {
                    steps: steps.to_vec(),
                    value: Some(table.into()),
                });
            }
        }
        for replaced in &self.replaced {
            let mut steps = self.steps.clone();
            steps.pop();
            steps.push(Step::Key((*replaced).to_owned()));
            if find(root, &steps).is_some() {
                edits.push(Edit { steps, value: None });
            }
        }
        edits.push(Edit {
            steps: self.steps.clone(),
            value: Some(value(text, self.is_text)),
        });
        edits
    }
}

/// Parses an override's text as TOML, or otherwise as a plain text.
pub(crate) fn value(text: &str, is_text: bool) -> toml_edit::Value {
    let text = text.trim();
    match text.parse::<toml_edit::Value>() {
        // A link may be called 5, and a title may be true.
        Ok(value) if is_text && !value.is_str() => text.into(),
        Ok(value) => value,
        Err(_) => text.into(),
    }
}

fn is_text(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Text | Kind::Name | Kind::Pattern | Kind::Trace | Kind::Word(_)
    )
}

fn resolve(root: &Node, path: &str) -> Result<Vec<Target>, OverrideError> {
    let mut words = path.split('.');
    let first = words.next().unwrap_or("");
    let rest: Vec<&str> = words.collect();
    let with_table = |lost: OverrideError| match overrides_with(root, first, &rest) {
        None => lost,
        allowed => OverrideError {
            allowed,
            suggestion: None,
            ..lost
        },
    };
    let key = lookup(&TOP, first).map_err(with_table)?;
    if let Some(lost) = would_add_a_flow(root, key.name, &rest) {
        return Err(lost);
    }
    let steps = vec![Step::Key(first.to_owned())];
    match (&key.kind, rest.split_first()) {
        (Kind::Tables { shape, .. }, Some((name, rest))) => {
            let elements = elements(root, key.name, name)?;
            let Some((word, rest)) = rest.split_first() else {
                return Err(OverrideError {
                    problem: Problem::IncompleteKey,
                    allowed: Some(shape.names().collect::<Vec<_>>().join(", ")),
                    suggestion: None,
                });
            };
            let targets = elements.into_iter().map(|index| {
                let mut steps = steps.clone();
                steps.push(Step::Index(index));
                descend(root, steps, shape, word, rest)
            });
            targets.collect()
        }
        (_, None) => Ok(vec![Target {
            steps,
            is_text: is_text(&key.kind),
            short: None,
            replaced: TOP.excluded_by(key.name),
        }]),
        (Kind::Table { shape, .. }, Some((word, rest))) => {
            let target = descend(root, steps, shape, word, rest);
            Ok(vec![target.map_err(with_table)?])
        }
        (_, Some(_)) => Err(not_a_table()),
    }
}

/// In a file with only `[[flow]]` entries, `transport.congestion` would add another flow.
fn would_add_a_flow(root: &Node, key: &str, rest: &[&str]) -> Option<OverrideError> {
    let is_short = |key| key == "transport" || key == "traffic";
    let has_short = ["transport", "traffic"]
        .iter()
        .any(|key| root.entry(key).is_some());
    if !is_short(key) || has_short || rest.is_empty() {
        return None;
    }
    let Value::List(flows) = &root.entry("flow")?.node.value else {
        return None;
    };
    let names = flows.iter().enumerate();
    let name = names
        .filter_map(|(index, flow)| element_name("flow", index, flow))
        .next()?;
    let own = if key == "traffic" { "traffic." } else { "" };
    Some(OverrideError {
        problem: Problem::NoShortForm,
        allowed: Some(format!("flow.{name}.{own}{}", rest.join("."))),
        suggestion: None,
    })
}

fn descend(
    root: &Node,
    mut steps: Vec<Step>,
    shape: &'static Shape,
    word: &str,
    rest: &[&str],
) -> Result<Target, OverrideError> {
    let key = lookup(shape, word)?;
    steps.push(Step::Key(word.to_owned()));
    let Some((word, rest)) = rest.split_first() else {
        return Ok(Target {
            steps,
            is_text: is_text(&key.kind),
            short: None,
            replaced: shape.excluded_by(key.name),
        });
    };
    let (shape, short) = match (&key.kind, rest) {
        (Kind::Table { shape, short }, _) => (shape, short),
        (Kind::Algorithm(all), []) => return parameter(root, steps, *all, word),
        _ => return Err(not_a_table()),
    };
    let depth = steps.len();
    let mut target = descend(root, steps, shape, word, rest)?;
    if let Some(short) = short {
        target.short = Some((depth, short));
    }
    Ok(target)
}

/// The parameter of the algorithm at `steps`, given by name or as a table.
fn parameter(
    root: &Node,
    mut steps: Vec<Step>,
    all: Algorithms,
    word: &str,
) -> Result<Target, OverrideError> {
    let present = find(root, &steps);
    let name = present.and_then(|node| match node.text() {
        Some(name) => Some(name),
        None => node.entry(NAME)?.node.text(),
    });
    let description = name.and_then(|name| algorithm::find(all, name));
    let declared = description.map(|description| algorithm::parameter(description, word));
    if let (Some(None), Some(description)) = (declared, description)
        && word != NAME
    {
        let names = description.parameters.iter().map(|one| one.name);
        return Err(OverrideError {
            problem: Problem::UnknownParameter(description.name),
            allowed: Some(algorithm::parameter_names(description)),
            suggestion: nearest(word, names),
        });
    }
    let depth = steps.len();
    steps.push(Step::Key(word.to_owned()));
    Ok(Target {
        steps,
        is_text: word == NAME,
        short: Some((depth, NAME)),
        replaced: Vec::new(),
    })
}

fn lookup(shape: &'static Shape, word: &str) -> Result<&'static Key, OverrideError> {
    shape.key(word).ok_or_else(|| unknown_key(word, shape))
}

fn unknown_key(word: &str, shape: &'static Shape) -> OverrideError {
    let suggestion = nearest(word, shape.names());
    let allowed = match suggestion {
        None => Some(shape.names().collect::<Vec<_>>().join(", ")),
        Some(_) => None,
    };
    OverrideError {
        problem: Problem::UnknownKey,
        allowed,
        suggestion,
    }
}

fn not_a_table() -> OverrideError {
    OverrideError {
        problem: Problem::NotATable,
        allowed: None,
        suggestion: None,
    }
}

fn elements(root: &Node, list: &'static str, name: &str) -> Result<Vec<usize>, OverrideError> {
    let items = match root.entry(list).map(|entry| &entry.node.value) {
        Some(Value::List(items)) => items.as_slice(),
        _ => &[],
    };
    if name == "*" && !items.is_empty() {
        return Ok((0..items.len()).collect());
    }
    let mut names = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match element_name(list, index, item) {
            Some(own) if own == name => return Ok(vec![index]),
            own => names.extend(own),
        }
    }
    let names = names.iter().map(String::as_str);
    Err(OverrideError {
        problem: Problem::UnknownName {
            what: list,
            name: name.chars().take(64).collect(),
        },
        allowed: match items {
            [] => Some(format!("none, since the file has no [[{list}]]")),
            _ => Some(name_list(names.clone())),
        },
        suggestion: nearest(name, names),
    })
}

fn find<'a>(root: &'a Node, steps: &[Step]) -> Option<&'a Node> {
    let mut node = root;
    for step in steps {
        node = match (step, &node.value) {
            (Step::Key(key), _) => &node.entry(key)?.node,
            (Step::Index(index), Value::List(items)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(node)
}

fn scalar(node: &Node) -> Option<toml_edit::Value> {
    match &node.value {
        Value::Text(text) => Some(text.into()),
        Value::Integer(number) => Some((*number).into()),
        Value::Float(number) => Some((*number).into()),
        Value::Boolean(value) => Some((*value).into()),
        Value::Date(_) | Value::List(_) | Value::Table(_) => None,
    }
}

fn shortened(path: &str) -> String {
    path.chars().take(120).collect()
}
