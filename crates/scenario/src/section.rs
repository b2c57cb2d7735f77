//! A table of the file, checked against its keys.

use crate::algorithm;
use crate::document::{Entry, Node, Origin, Value};
use crate::error::Problem;
use crate::keys::{Default, Key, Kind, Shape};
use crate::other_tables::tables_with;
use crate::parsed::{Parsed, ParsedType};
use crate::report::Report;
use crate::suggest::nearest;
use crate::value::quoted;

/// A table whose keys are known and values of the right kind, or else have errors reported.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    shape: &'static Shape,
    /// Path, such as `link.wifi`; empty at the top.
    pub path: String,
    origin: Origin,
    slots: Vec<Slot>,
}

#[derive(Clone, Debug)]
struct Slot {
    key: &'static Key,
    path: String,
    origin: Origin,
    shown: Option<String>,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Value(Parsed),
    Table(Section),
    Tables(Vec<Section>),
}

impl Content {
    fn value(&self) -> Option<&Parsed> {
        match self {
            Content::Value(parsed) => Some(parsed),
            Content::Table(_) | Content::Tables(_) => None,
        }
    }
}

impl Section {
    /// Reads a table, and reports every error in a single key.
    pub fn read(node: &Node, shape: &'static Shape, path: String, report: &mut Report) -> Section {
        let mut section = Section {
            shape,
            path,
            origin: node.origin,
            slots: Vec::new(),
        };
        let Value::Table(entries) = &node.value else {
            return section;
        };
        for entry in entries {
            match shape.key(&entry.key) {
                Some(key) => {
                    let slot = section.slot(key, entry, report);
                    section.slots.push(slot);
                }
                None => section.unknown_key(entry, report),
            }
        }
        section.check_presence(report);
        section
    }

    /// Empty table in place of a missing one.
    pub fn absent(path: &str, shape: &'static Shape) -> Section {
        Section {
            shape,
            path: path.to_owned(),
            origin: Origin::File(0),
            slots: Vec::new(),
        }
    }

    /// Whether the file has this key, valid or not.
    pub fn has(&self, key: &str) -> bool {
        self.slot_of(key).is_some()
    }

    /// Whether this key has an invalid value. Comparing its default with other keys would report
    /// false errors.
    pub fn is_wrong(&self, key: &str) -> bool {
        self.slot_of(key)
            .is_some_and(|slot| matches!(slot.content, Content::Value(Parsed::Invalid)))
    }

    /// Whether none of these keys has an invalid value.
    pub fn none_wrong(&self, keys: &[&str]) -> bool {
        !keys.iter().any(|key| self.is_wrong(key))
    }

    /// The value of this key, if given and valid.
    pub fn get<T: ParsedType>(&self, key: &str) -> Option<T> {
        self.slot_of(key)
            .and_then(|slot| T::from_parsed(slot.content.value()?))
    }

    /// The value of this key; its default if absent or invalid.
    pub fn value<T: ParsedType>(&self, key: &str) -> T {
        let default = || T::from_parsed(self.default(key).value()?);
        let value = self.get(key).or_else(default);
        value.expect("a default is right; a test reads them all")
    }

    pub fn default_table(&self, key: &str) -> Section {
        match self.default(key) {
            Content::Table(table) => table,
            other => panic!("the default of {key} is {other:?}, not a table"),
        }
    }

    fn default(&self, name: &str) -> Content {
        let key = self.shape.key(name).expect("a key of the table");
        let mut report = Report::new("", "");
        let content = key.default.toml().map(|value| {
            let entry = Entry {
                key: name.to_owned(),
                origin: self.origin,
                node: Node::from_override(value),
            };
            self.slot(key, &entry, &mut report).content
        });
        content.unwrap_or(Content::Value(Parsed::Invalid))
    }

    pub fn table(&self, key: &str) -> Option<&Section> {
        match self.slot_of(key).map(|slot| &slot.content) {
            Some(Content::Table(section)) => Some(section),
            _ => None,
        }
    }

    /// Tables of this key; empty if it is not given.
    pub fn tables(&self, key: &str) -> &[Section] {
        match self.slot_of(key).map(|slot| &slot.content) {
            Some(Content::Tables(sections)) => sections,
            _ => &[],
        }
    }

    /// Whether this key is given as an empty list of tables.
    pub fn is_empty_list(&self, key: &str) -> bool {
        self.slot_of(key)
            .is_some_and(|slot| matches!(slot.content, Content::Tables(_)) && slot.shown.is_some())
    }

    /// Given keys that are not tables, with values.
    pub fn given(&self) -> impl Iterator<Item = (&'static Key, &Parsed)> {
        let slots = self.slots.iter();
        slots.filter_map(|slot| Some((slot.key, slot.content.value()?)))
    }

    /// Reports an error of this key, at the table's position if the key is not given.
    pub fn add_error<'r>(
        &self,
        key: &str,
        problem: Problem,
        report: &'r mut Report,
    ) -> &'r mut crate::ScenarioError {
        match self.slot_of(key) {
            Some(slot) => {
                let error = report.error(slot.origin, &slot.path, problem);
                error.value = slot.shown.clone();
                error
            }
            None => self.add_missing_key_error(&join(&self.path, key), problem, report),
        }
    }

    /// Reports an unknown name, with the known ones and the nearest of them.
    pub fn add_unknown_name(
        &self,
        key: &str,
        what: &'static str,
        name: &str,
        known: &[&str],
        report: &mut Report,
    ) {
        let problem = Problem::UnknownName {
            what,
            name: name.chars().take(64).collect(),
        };
        let error = self.add_error(key, problem, report);
        error.allowed = Some(name_list(known.iter().copied()));
        error.suggestion = nearest(name, known.iter().copied());
    }

    fn slot_of(&self, key: &str) -> Option<&Slot> {
        self.slots.iter().find(|slot| slot.key.name == key)
    }

    fn slot(&self, key: &'static Key, entry: &Entry, report: &mut Report) -> Slot {
        let path = join(&self.path, key.name);
        let (content, shown) = match (&key.kind, &entry.node.value) {
            (Kind::Table { shape, .. }, Value::Table(_)) => {
                let section = Section::read(&entry.node, shape, path.clone(), report);
                (Content::Table(section), None)
            }
            (
                Kind::Table {
                    shape,
                    short: Some(short),
                },
                _,
            ) => {
                let section = Section::read_short(key, shape, short, entry, &path, report);
                (Content::Table(section), Some(entry.node.shown()))
            }
            (Kind::Algorithm(all), Value::Table(entries)) => (
                Content::Value(algorithm::read_table(*all, entry, entries, &path, report)),
                Some(entry.node.shown()),
            ),
            (Kind::Entries { shape, short, most }, Value::List(items)) => {
                let sections =
                    read_entries(key, entry, items, (shape, short, *most), &path, report);
                (Content::Tables(sections), Some(entry.node.shown()))
            }
            (Kind::Tables { shape, most }, Value::List(items)) => {
                let sections = read_list(key, entry, items, shape, *most, report);
                (
                    Content::Tables(sections),
                    items.is_empty().then(|| entry.node.shown()),
                )
            }
            _ => (
                Content::Value(read_value(&key.kind, key, entry, &path, report)),
                Some(entry.node.shown()),
            ),
        };
        Slot {
            key,
            path,
            origin: entry.node.origin,
            shown,
            content,
        }
    }

    /// `loss = "1 %"` is short for `loss = { p = "1 %" }`.
    fn read_short(
        long: &'static Key,
        shape: &'static Shape,
        short: &str,
        entry: &Entry,
        path: &str,
        report: &mut Report,
    ) -> Section {
        let slots = shape.key(short).map(|key| Slot {
            key,
            path: path.to_owned(),
            origin: entry.node.origin,
            shown: Some(entry.node.shown()),
            content: Content::Value(read_value(&key.kind, long, entry, path, report)),
        });
        Section {
            shape,
            path: path.to_owned(),
            origin: entry.node.origin,
            slots: slots.into_iter().collect(),
        }
    }

    fn unknown_key(&self, entry: &Entry, report: &mut Report) {
        let shape = self.shape;
        if report.is_full() {
            report.error(entry.origin, "", Problem::UnknownKey);
            return;
        }
        let key: String = entry.key.chars().take(64).collect();
        let path = join(&self.path, &key);
        let error = report.error(entry.origin, &path, Problem::UnknownKey);
        error.allowed = tables_with(&key, shape);
        if error.allowed.is_none() {
            error.suggestion = nearest(&entry.key, shape.names());
        }
        if error.allowed.is_none() && error.suggestion.is_none() {
            error.allowed = Some(shape.names().collect::<Vec<_>>().join(", "));
        }
    }

    fn check_presence(&self, report: &mut Report) {
        let shape = self.shape;
        for key in shape.keys() {
            if matches!(key.default, Default::Required) && !self.has(key.name) {
                self.add_error(key.name, Problem::Missing, report).allowed = Some(allowed(key));
            }
        }
        for alternatives in shape.alternatives {
            let mut given = alternatives.keys.iter().filter(|key| self.has(key));
            let Some(first) = given.next() else {
                if alternatives.needed {
                    let problem = Problem::NeedsOne(alternatives.keys);
                    self.add_missing_key_error(&self.path, problem, report);
                }
                continue;
            };
            for other in given {
                self.add_error(other, Problem::Excluded(first), report);
            }
        }
    }

    fn add_missing_key_error<'r>(
        &self,
        key: &str,
        problem: Problem,
        report: &'r mut Report,
    ) -> &'r mut crate::ScenarioError {
        if self.path.is_empty() {
            report.whole_file(key, problem)
        } else {
            report.error(self.origin, key, problem)
        }
    }
}

/// Path of a list's element in errors and overrides: with its name, or as `link[2]` without one.
pub(crate) fn element_path(list: &str, index: usize, node: &Node) -> String {
    match element_name(list, index, node) {
        Some(name) => join(list, &name),
        None => format!("{list}[{}]", index + 1),
    }
}

/// Name of an element; competitors without one have their number.
pub(crate) fn element_name(list: &str, index: usize, node: &Node) -> Option<String> {
    let name = node.entry("name").map(|entry| &entry.node);
    match name {
        Some(node) if Kind::Name.read(node).is_ok() => node.text().map(str::to_owned),
        None if list == "competitor" => Some(format!("competitor-{}", index + 1)),
        _ => None,
    }
}

fn read_list(
    key: &'static Key,
    entry: &Entry,
    items: &[Node],
    shape: &'static Shape,
    most: usize,
    report: &mut Report,
) -> Vec<Section> {
    let list = key.name;
    if items.is_empty() && matches!(key.default, Default::Required) {
        let error = report.error(entry.node.origin, list, Problem::Empty);
        error.allowed = Some(allowed(key));
    }
    if items.len() > most {
        report.error(entry.node.origin, list, Problem::TooMany(most));
    }
    let mut sections = Vec::new();
    for (index, item) in items.iter().take(most).enumerate() {
        let path = element_path(list, index, item);
        if matches!(item.value, Value::Table(_)) {
            sections.push(Section::read(item, shape, path, report));
        } else {
            let found = item.type_name();
            let error = report.error(item.origin, &path, Problem::WrongType { found });
            error.value = Some(item.shown());
            error.allowed = Some(format!("a table, written under [[{list}]]"));
        }
    }
    sections
}

/// Reads a list of tables or, in the short form, of values of one key.
fn read_entries(
    key: &'static Key,
    entry: &Entry,
    items: &[Node],
    (shape, short, most): (&'static Shape, &'static str, usize),
    path: &str,
    report: &mut Report,
) -> Vec<Section> {
    if items.len() > most {
        report.error(entry.node.origin, path, Problem::TooMany(most));
    }
    let items = items.iter().take(most).enumerate();
    items
        .map(|(index, item)| {
            let path = format!("{path}[{}]", index + 1);
            if matches!(item.value, Value::Table(_)) {
                return Section::read(item, shape, path, report);
            }
            let entry = Entry {
                key: short.to_owned(),
                origin: item.origin,
                node: item.clone(),
            };
            Section::read_short(key, shape, short, &entry, &path, report)
        })
        .collect()
}

/// Reads one value; error messages have the allowed values of `key`.
fn read_value(
    kind: &Kind,
    key: &'static Key,
    entry: &Entry,
    path: &str,
    report: &mut Report,
) -> Parsed {
    match kind.read(&entry.node) {
        Ok(parsed) => {
            if let (Kind::Word(_) | Kind::OneOf(_), Parsed::Text(name)) = (kind, &parsed) {
                warn_of_older_name(path, entry, name, report);
            }
            parsed
        }
        Err(wrong) => {
            let error = report.error(entry.node.origin, path, wrong.problem);
            error.value = Some(entry.node.shown());
            error.suggestion = wrong.suggestion;
            error.allowed = Some(allowed(key));
            Parsed::Invalid
        }
    }
}

/// Warns if the word in the file is the older name of `name`.
fn warn_of_older_name(path: &str, entry: &Entry, name: &str, report: &mut Report) {
    if let Some(older) = entry.node.text().filter(|given| *given != name) {
        let warning = format!("{path}: \"{older}\" is the older name of \"{name}\"");
        report.warnings.push(warning);
    }
}

fn allowed(key: &Key) -> String {
    match &key.kind {
        Kind::Tables { .. } => {
            let how_many = match key.default {
                Default::Required => "one or more tables",
                _ => "tables",
            };
            format!("{how_many}, each under [[{}]]", key.name)
        }
        kind => kind.allowed(),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

pub(crate) fn name_list<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MAX: usize = 12;
    let names: Vec<&str> = names.into_iter().collect();
    let mut text = quoted(names.iter().copied().take(MAX));
    if names.len() > MAX {
        text.push_str(&format!(" and {} more", names.len() - MAX));
    }
    text
}
