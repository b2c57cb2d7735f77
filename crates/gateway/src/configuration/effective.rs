//! Effective options of a verb, for `--check` and to detect changes at a reload.

use std::any::TypeId;
use std::ffi::OsStr;
use std::fmt;
use std::path::{self, PathBuf};

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::keys;

/// Options that are set, in the order of the help; as text, a configuration file with their sources.
#[derive(Clone, Debug, Default)]
pub(crate) struct Effective(Vec<EffectiveOption>);

#[derive(Clone, Debug)]
struct EffectiveOption {
    key: String,
    value: String,
    source: String,
}

/// Options of a verb, read again while it runs.
#[derive(Debug)]
pub(crate) struct Reread<A> {
    pub arguments: A,
    changed: Vec<String>,
}

impl Effective {
    pub(super) fn new(
        verb: &Command,
        matches: &ArgMatches,
        place: impl Fn(&str) -> Option<String>,
    ) -> Effective {
        let option = |arg: &Arg| {
            let key = arg.get_long()?;
            let source = match matches.value_source(arg.get_id().as_str())? {
                ValueSource::CommandLine => place(key).unwrap_or_else(|| "command line".to_owned()),
                _ => "default".to_owned(),
            };
            Some(EffectiveOption {
                key: key.to_owned(),
                value: value(arg, matches)?,
                source,
            })
        };
        Effective(keys(verb).filter_map(option).collect())
    }

    fn value(&self, key: &str) -> Option<&str> {
        let mut options = self.0.iter();
        options
            .find(|option| option.key == key)
            .map(|option| option.value.as_str())
    }
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|option| {
            writeln!(f, "{} = {}  # {}", option.key, option.value, option.source)
        })
    }
}

impl<A> Reread<A> {
    pub(crate) fn new(arguments: A, before: &Effective, now: &Effective) -> Reread<A> {
        let mut changed: Vec<String> = Vec::new();
        for EffectiveOption { key, .. } in before.0.iter().chain(&now.0) {
            if before.value(key) != now.value(key) && !changed.contains(key) {
                changed.push(key.clone());
            }
        }
        Reread { arguments, changed }
    }

    /// Returns a message for each changed option that a reload does not apply.
    pub(crate) fn restarts(&self, reloadable: &[&str]) -> Vec<String> {
        let changed = self.changed.iter();
        changed
            .filter(|key| !reloadable.contains(&key.as_str()))
            .map(|key| format!("{key} takes a restart"))
            .collect()
    }
}

fn value(arg: &Arg, matches: &ArgMatches) -> Option<String> {
    let id = arg.get_id().as_str();
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return matches.get_flag(id).then(|| "true".to_owned());
    }
    let values = matches.get_raw(id)?;
    let toml = |text: String| match text.parse::<i64>() {
        Ok(number) => number.to_string(),
        Err(_) => toml_edit::Value::from(text).to_string(),
    };
    // A path in a file starts at the folder of that file, not at the current folder.
    let is_path = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let absolute = |value: &OsStr| match path::absolute(value) {
        Ok(path) if is_path => path.into_os_string(),
        _ => value.to_owned(),
    };
    let values: Vec<String> = values
        .map(|value| toml(absolute(value).to_string_lossy().into_owned()))
        .collect();
    match arg.get_action() {
        ArgAction::Append => Some(format!("[{}]", values.join(", "))),
        _ => values.into_iter().next(),
    }
}
