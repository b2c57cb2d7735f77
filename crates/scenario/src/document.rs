//! Tree of a file's values with their positions.

use toml_edit::{Document, Item, Key};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    File(usize),
    Override,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub origin: Origin,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Date(String),
    List(Vec<Node>),
    Table(Vec<Entry>),
}

#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub key: String,
    /// Origin of the key.
    pub origin: Origin,
    pub node: Node,
}

impl Node {
    /// Tree of a parsed file.
    pub fn from_document(document: &Document<&str>) -> Node {
        node(document.as_item(), Origin::File(0), true)
    }

    /// Tree of an override's value.
    pub fn from_override(value: toml_edit::Value) -> Node {
        scalar_or_inline(&value, Origin::Override, false)
    }

    /// The entry with this key, if the node is a table.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Type of the value, with its article.
    pub fn type_name(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Boolean(_) => "a boolean",
            Value::Date(_) => "a date or time of day",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// Beginning of the value in TOML.
    pub fn shown(&self) -> String {
        const MAX: usize = 60;
        let mut text = String::new();
        self.show(&mut text, MAX);
        if text.chars().count() > MAX {
            text = text.chars().take(MAX).collect();
            text.push_str("...");
        }
        text
    }

    fn show(&self, out: &mut String, most: usize) {
        match &self.value {
            Value::Text(text) if text.len() > 4 * most => {
                let beginning: String = text.chars().take(most + 1).collect();
                out.push_str(&format!("{beginning:?}"));
            }
            Value::Text(text) => out.push_str(&format!("{text:?}")),
            Value::Integer(number) => out.push_str(&number.to_string()),
            Value::Float(number) => out.push_str(&format!("{number:?}")),
            Value::Boolean(value) => out.push_str(&value.to_string()),
            Value::Date(text) => out.push_str(text),
            Value::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if out.len() > most {
                        break;
                    }
                    out.push_str(if index == 0 { "" } else { ", " });
                    item.show(out, most);
                }
                out.push(']');
            }
            Value::Table(entries) => {
                out.push_str("{ ");
                for (index, entry) in entries.iter().enumerate() {
                    if out.len() > most {
                        break;
                    }
                    out.push_str(if index == 0 { "" } else { ", " });
                    out.push_str(&entry.key);
                    out.push_str(" = ");
                    entry.node.show(out, most);
                }
                out.push_str(" }");
            }
        }
    }
}

fn node(item: &Item, inherited: Origin, in_file: bool) -> Node {
    let origin = origin(item.span(), inherited, in_file);
    let value = match item {
        Item::None => Value::Table(Vec::new()),
        Item::Value(value) => return scalar_or_inline(value, inherited, in_file),
        Item::Table(table) => Value::Table(entries(table, origin, in_file)),
        Item::ArrayOfTables(tables) => {
            let element = |table: &toml_edit::Table| {
                let origin = self::origin(table.span(), origin, in_file);
                let value = Value::Table(entries(table, origin, in_file));
                Node { origin, value }
            };
            Value::List(tables.iter().map(element).collect())
        }
    };
    Node { origin, value }
}

fn scalar_or_inline(value: &toml_edit::Value, inherited: Origin, in_file: bool) -> Node {
    let origin = origin(value.span(), inherited, in_file);
    let value = match value {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::Integer(*number.value()),
        toml_edit::Value::Float(number) => Value::Float(*number.value()),
        toml_edit::Value::Boolean(value) => Value::Boolean(*value.value()),
        toml_edit::Value::Datetime(date) => Value::Date(date.value().to_string()),
        toml_edit::Value::InlineTable(table) => Value::Table(entries(table, origin, in_file)),
        toml_edit::Value::Array(items) => {
            let element = |item| scalar_or_inline(item, origin, in_file);
            Value::List(items.iter().map(element).collect())
        }
    };
    Node { origin, value }
}

/// An override has no position in the file, even if its own text has spans.
fn origin(span: Option<std::ops::Range<usize>>, inherited: Origin, in_file: bool) -> Origin {
    match span {
        Some(span) if in_file => Origin::File(span.start),
        _ => inherited,
    }
}

fn entries(table: &dyn toml_edit::TableLike, inherited: Origin, in_file: bool) -> Vec<Entry> {
    table
        .iter()
        .map(|(name, item)| {
            let span = table
                .get_key_value(name)
                .and_then(|(key, _)| Key::span(key));
            let origin = origin(span, inherited, in_file);
            Entry {
                key: name.to_owned(),
                origin,
                node: node(item, origin, in_file),
            }
        })
        .collect()
}
