//! Output of `--check`: the effective options and their sources.

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::keys;

/// Lines of TOML, each with its source in a comment; options that are not set are omitted.
pub(super) fn effective(
    verb: &Command,
    matches: &ArgMatches,
    place: impl Fn(&str) -> Option<String>,
) -> String {
    let line = |arg: &Arg| {
        let key = arg.get_long()?;
        let source = match matches.value_source(arg.get_id().as_str())? {
            ValueSource::CommandLine => place(key).unwrap_or_else(|| "command line".to_owned()),
            _ => "default".to_owned(),
        };
        Some(format!("{key} = {}  # {source}\n", value(arg, matches)?))
    };
    keys(verb).filter_map(line).collect()
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
    let values: Vec<String> = values
        .map(|value| toml(value.to_string_lossy().into_owned()))
        .collect();
    match arg.get_action() {
        ArgAction::Append => Some(format!("[{}]", values.join(", "))),
        _ => values.into_iter().next(),
    }
}
