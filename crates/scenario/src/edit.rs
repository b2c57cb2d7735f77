//! Change of one value, in the checked tree and in the file's text.

use toml_edit::{DocumentMut, InlineTable, Item, Table};

use crate::document::{Entry, Node, Origin, Value};

/// A value and its path. All steps must exist, except tables, which are created.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub steps: Vec<Step>,
    /// `None` removes the value at the path.
    pub value: Option<toml_edit::Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

impl Edit {
    /// Sets the value in the tree. Does nothing if a step is not a table, which the check of that
    /// value reports.
    pub fn apply(&self, root: &mut Node) {
        let Some(value) = &self.value else {
            return remove(root, &self.steps);
        };
        let mut node = root;
        for step in &self.steps {
            node = match (step, &mut node.value) {
                (Step::Index(index), Value::List(items)) => match items.get_mut(*index) {
                    Some(item) => item,
                    None => return,
                },
                (Step::Key(key), Value::Table(entries)) => entry(entries, key),
                _ => return,
            };
        }
        *node = Node::from_override(value.clone());
    }

    /// Sets the value in the text and keeps surrounding text, such as comments.
    pub fn apply_to_text(&self, document: &mut DocumentMut) {
        let Some(value) = &self.value else {
            return remove_from_text(document, &self.steps);
        };
        let mut item = document.as_item_mut();
        for (depth, step) in self.steps.iter().enumerate() {
            let next = match step {
                Step::Index(index) => item.get_mut(*index),
                Step::Key(key) => item.as_table_like_mut().map(|table| {
                    let new = match depth {
                        0 => Item::Table(Table::new()),
                        _ => Item::Value(InlineTable::new().into()),
                    };
                    table.entry(key).or_insert(new)
                }),
            };
            match next {
                Some(next) => item = next,
                None => return,
            }
        }
        let mut value = value.clone();
        match item.as_value() {
            Some(old) => *value.decor_mut() = old.decor().clone(),
            None => value.decor_mut().clear(),
        }
        *item = Item::Value(value);
    }
}

fn entry<'a>(entries: &'a mut Vec<Entry>, key: &str) -> &'a mut Node {
    let index = entries.iter().position(|entry| entry.key == key);
    let index = index.unwrap_or_else(|| {
        entries.push(Entry {
            key: key.to_owned(),
            origin: Origin::Override,
            node: Node {
                origin: Origin::Override,
                value: Value::Table(Vec::new()),
            },
        });
        entries.len() - 1
    });
    &mut entries[index].node
}

fn remove(root: &mut Node, steps: &[Step]) {
    let Some((Step::Key(last), way)) = steps.split_last() else {
        return;
    };
    let mut node = root;
    for step in way {
        let next = match (step, &mut node.value) {
            (Step::Index(index), Value::List(items)) => items.get_mut(*index),
            (Step::Key(key), Value::Table(entries)) => {
                let entry = entries.iter_mut().find(|entry| entry.key == *key);
                entry.map(|entry| &mut entry.node)
            }
            _ => None,
        };
        match next {
            Some(next) => node = next,
            None => return,
        }
    }
    if let Value::Table(entries) = &mut node.value {
        entries.retain(|entry| entry.key != *last);
    }
}

fn remove_from_text(document: &mut DocumentMut, steps: &[Step]) {
    let Some((Step::Key(last), way)) = steps.split_last() else {
        return;
    };
    let mut item = document.as_item_mut();
    for step in way {
        let next = match step {
            Step::Index(index) => item.get_mut(*index),
            Step::Key(key) => item.get_mut(key.as_str()),
        };
        match next {
            Some(next) => item = next,
            None => return,
        }
    }
    if let Some(table) = item.as_table_like_mut() {
        table.remove(last);
    }
}
