//! Parser of a configuration file's TOML, with the position of each key and value.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use toml_edit::{Document, Item};

use crate::Failure;
use crate::input_file::open_input;

/// Longest file, in bytes.
const LONGEST: u64 = 1 << 20;

/// Longest quotation of a value in an error, in characters.
const SHOWN: usize = 60;

#[derive(Debug)]
pub(super) struct File {
    pub path: PathBuf,
    text: String,
    pub entries: Vec<ConfigEntry>,
}

#[derive(Debug)]
pub(super) struct ConfigEntry {
    pub key: String,
    pub at: usize,
    pub value: Value,
    /// The beginning of the value as written.
    pub quoted: String,
}

#[derive(Debug)]
pub(super) enum Value {
    Text(String),
    /// An integer or float, as text for the command line.
    Number(String),
    Boolean(bool),
    List(Vec<Value>),
    /// Unsuitable for any option: the name of its kind, with an article.
    Other(&'static str),
}

impl File {
    pub fn read(path: &Path) -> Result<File, Failure> {
        let wrong = |problem: &dyn std::fmt::Display| {
            Failure::Input(format!("{}: {problem}", path.display()))
        };
        let mut bytes = Vec::new();
        let read = open_input(path, LONGEST).and_then(|mut file| file.read_to_end(&mut bytes));
        read.map_err(|error: io::Error| wrong(&error))?;
        let text = String::from_utf8(bytes).map_err(|_| wrong(&"not a text file in UTF-8"))?;
        File::parse(path, text)
    }

    fn parse(path: &Path, text: String) -> Result<File, Failure> {
        let mut file = File {
            path: path.into(),
            text,
            entries: Vec::new(),
        };
        let document = Document::parse(file.text.as_str()).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let place = file.place(span.start);
            Failure::Input(match (error.message(), file.text.get(span)) {
                ("duplicate key", Some(key)) => {
                    format!("{place}: {key}: duplicate key; allowed: each key once")
                }
                (message, _) => format!("{place}: not TOML: {}", message.replace('\n', " ")),
            })
        })?;
        let mut entries: Vec<ConfigEntry> = document
            .as_table()
            .iter()
            .map(|(name, item)| {
                let key = document.as_table().get_key_value(name);
                let span = key.and_then(|(key, _)| key.span());
                ConfigEntry {
                    key: name.to_owned(),
                    at: span.map_or(0, |span| span.start),
                    value: value(item),
                    quoted: quoted(item, &file.text),
                }
            })
            .collect();
        entries.sort_by_key(|entry| entry.at);
        file.entries = entries;
        Ok(file)
    }

    /// Returns the folder that relative paths refer to.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    pub fn place(&self, at: usize) -> String {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let line = before.matches('\n').count() + 1;
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[begin..].chars().count() + 1;
        format!("{}:{line}:{column}", self.path.display())
    }
}

impl Value {
    /// Returns its text for the command line, if it has one.
    pub fn text(&self) -> Option<String> {
        match self {
            Value::Text(text) | Value::Number(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// Returns the name of its kind, with an article.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Number(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::List(_) => "a list",
            Value::Other(kind) => kind,
        }
    }
}

fn value(item: &Item) -> Value {
    match item {
        Item::Value(value) => scalar(value),
        _ => Value::Other("a table"),
    }
}

fn scalar(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => Value::Text(text.value().clone()),
        toml_edit::Value::Integer(number) => Value::Number(number.value().to_string()),
        toml_edit::Value::Float(number) => Value::Number(number.value().to_string()),
        toml_edit::Value::Boolean(flag) => Value::Boolean(*flag.value()),
        toml_edit::Value::Array(items) => Value::List(items.iter().map(scalar).collect()),
        toml_edit::Value::Datetime(_) => Value::Other("a date or time of day"),
        toml_edit::Value::InlineTable(_) => Value::Other("a table"),
    }
}

fn quoted(item: &Item, text: &str) -> String {
    let Item::Value(value) = item else {
        return String::new();
    };
    let text = value
        .span()
        .and_then(|span| text.get(span))
        .unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut text = words.join(" ");
    if text.chars().count() > SHOWN {
        text = text.chars().take(SHOWN).collect();
        text.push_str("...");
    }
    text
}
