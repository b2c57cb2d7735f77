//! Errors of a configuration file: file, line, key, value, allowed values, and the nearest valid word.

use std::error::Error;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};

use super::NO_KEYS;
use super::file::{ConfigEntry, File};
use crate::Failure;

/// Returns `relay.toml:7:1: rate = "fast": PROBLEM`.
pub(super) fn at(file: &File, entry: &ConfigEntry, problem: &str) -> String {
    let place = file.place(entry.at);
    match entry.quoted.is_empty() {
        true => format!("{place}: {}: {problem}", entry.key),
        false => format!("{place}: {} = {}: {problem}", entry.key, entry.quoted),
    }
}

/// Returns the error of a key that is not an option of the verb.
pub(super) fn unknown<'a>(
    file: &File,
    entry: &ConfigEntry,
    keys: impl Iterator<Item = &'a Arg>,
    relaxed: &Command,
    verb: &str,
) -> String {
    let names: Vec<&str> = keys.filter_map(Arg::get_long).collect();
    let mut problem = format!("unknown key; allowed: {}", names.join(", "));
    let option = format!("--{}", entry.key.to_lowercase().replace(['_', ' '], "-"));
    let plain = option.trim_start_matches('-').to_owned();
    let line = [relaxed.get_name(), verb, &option];
    let guess = relaxed.clone().try_get_matches_from(line).err();
    let guess = guess
        .as_ref()
        .and_then(|error| text(error, ContextKind::SuggestedArg));
    let guess = guess.map(|option| name(&option).to_owned());
    let meant = names.iter().find(|name| **name == plain).copied();
    if let Some(word) = meant
        .or(guess.as_deref())
        .filter(|word| !NO_KEYS.contains(word))
    {
        problem += &format!("; did you mean {word:?}?");
    }
    at(file, entry, &problem)
}

pub(super) fn of_value(error: &clap::Error, arg: &Arg) -> String {
    let is_empty = text(error, ContextKind::InvalidValue).is_some_and(|value| value.is_empty());
    let message = match error.source() {
        _ if is_empty => "must not be empty".to_owned(),
        Some(source) => source.to_string().replace('\n', " "),
        None => "not a value of this key".to_owned(),
    };
    match message.contains("allowed: ") {
        true => message,
        false => format!("{message}; allowed: {}", allowed(arg)),
    }
}

pub(super) fn allowed(arg: &Arg) -> String {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return "true, false".to_owned();
    }
    let words = arg.get_possible_values();
    let words: Vec<&str> = words.iter().map(|word| word.get_name()).collect();
    let one = match words.is_empty() {
        false => words.join(", "),
        true => arg
            .get_value_names()
            .and_then(|names| names.first())
            .map_or("a value".to_owned(), |name| name.to_string()),
    };
    match arg.get_action() {
        ArgAction::Append => format!("{one}, or a list of such"),
        _ => one,
    }
}

/// Returns errors of the command line and file together: a missing option, or two that exclude each other.
pub(super) fn of_both<'a>(
    error: &clap::Error,
    file: &File,
    entry: impl Fn(&str) -> Option<&'a ConfigEntry>,
) -> Option<Failure> {
    let invalid = texts(error, ContextKind::InvalidArg);
    let prior = texts(error, ContextKind::PriorArg);
    match error.kind() {
        ErrorKind::MissingRequiredArgument => {
            let keys: Vec<&str> = invalid.iter().map(|option| name(option)).collect();
            Some(Failure::Input(format!(
                "{}: missing: {}",
                file.path.display(),
                keys.join(", ")
            )))
        }
        ErrorKind::ArgumentConflict => {
            let (one, other) = (name(invalid.first()?), name(prior.first()?));
            let (entry, other) = match (entry(one), entry(other)) {
                (Some(entry), _) => (entry, other),
                (None, Some(entry)) => (entry, one),
                (None, None) => return None,
            };
            let problem = format!("cannot be given together with {other:?}");
            Some(Failure::Input(at(file, entry, &problem)))
        }
        _ => None,
    }
}

/// Returns `relay-key` for `--relay-key <FILE>`.
fn name(option: &str) -> &str {
    let word = option.split([' ', '=']).next().unwrap_or_default();
    word.trim_start_matches('-')
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    texts(error, kind).into_iter().next()
}

fn texts(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}
