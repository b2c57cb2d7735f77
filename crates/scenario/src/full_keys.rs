//! Completion of abbreviated override keys, for error messages.

use crate::document::{Node, Value};
use crate::keys::{Kind, TOP};
use crate::section::element_name;

/// Override keys that end with this key, or lead to a table of this name, such as `link.wifi.delay,
/// link.*.delay` for `delay`, and `link.wifi.delay` for `wifi.delay`.
pub(crate) fn overrides_with(root: &Node, first: &str, rest: &[&str]) -> Option<String> {
    let mut found = Vec::new();
    for table in TOP.keys() {
        let (name, list) = (table.name, root.entry(table.name));
        match &table.kind {
            Kind::Table { shape, .. } if shape.key(first).is_some() => {
                found.push(joined(&[name, first], rest));
            }
            Kind::Tables { shape, .. } => {
                let Some(Value::List(items)) = list.map(|entry| &entry.node.value) else {
                    continue;
                };
                let names = items.iter().enumerate();
                let names = names.filter_map(|(index, item)| element_name(name, index, item));
                let names: Vec<String> = names.collect();
                if rest.first().is_some_and(|key| shape.key(key).is_some())
                    && names.iter().any(|own| own == first)
                {
                    found.push(joined(&[name, first], rest));
                }
                if shape.key(first).is_some() {
                    let one = names.first().map(|own| joined(&[name, own, first], rest));
                    found.extend(one);
                    if names.len() > 1 {
                        found.push(joined(&[name, "*", first], rest));
                    }
                }
            }
            _ => {}
        }
    }
    (!found.is_empty()).then(|| found.join(", "))
}

fn joined(first: &[&str], rest: &[&str]) -> String {
    [first, rest].concat().join(".")
}
