//! Configuration file of a verb: TOML whose keys are the options of the command line.
//!
//! The entries are appended to the command line as options. So an option, its key, its checks and its
//! documentation are declared once, in clap. The command line overrides the file.

mod effective;
mod file;
mod problem;

use std::any::TypeId;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Id};

pub(crate) use self::effective::{Effective, Reread};
use self::file::{ConfigEntry, File, Value};
use crate::Failure;

/// What every verb with a configuration file has.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ConfigurationFile {
    /// TOML file with options of this verb, such as `listen = ["[::]:4433"]`. Options on the command
    /// line override it. Relative paths in it start at its folder.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Read and check all options and files, print the planned actions and the effective options, and
    /// exit.
    #[arg(long)]
    pub check: bool,
}

const NO_KEYS: [&str; 5] = ["check", "config", "help", "run-hook", "version"];

/// Command line with the additions of its configuration file.
#[derive(Debug)]
pub(crate) struct Merged {
    pub arguments: Vec<OsString>,
    file: Option<UsedFile>,
}

/// File from which options were taken.
#[derive(Debug)]
struct UsedFile {
    file: File,
    entries: Vec<UsedEntry>,
}

#[derive(Debug)]
struct UsedEntry {
    entry: usize,
    arguments: Vec<OsString>,
}

impl Merged {
    /// Reads the configuration file that `arguments` name, if any.
    ///
    /// A command line that does not parse is returned unchanged, for its parser to reject. Errors: the file
    /// cannot be read; or all errors in its keys and values, one per line.
    pub(crate) fn read(command: &Command, arguments: Vec<OsString>) -> Result<Merged, Failure> {
        let mut relaxed = relaxed(command.clone());
        relaxed.build();
        let matches = relaxed.clone().try_get_matches_from(&arguments);
        let named = matches.as_ref().ok().and_then(|matches| {
            let (verb, matches) = matches.subcommand()?;
            let path = matches.try_get_one::<PathBuf>("config").ok()??;
            Some((verb, matches, path))
        });
        let Some((verb, matches, path)) = named else {
            let file = None;
            return Ok(Merged { arguments, file });
        };
        let file = File::read(path)?;
        let entries = used_entries(&file, &relaxed, verb, matches)?;
        let added = entries.iter().flat_map(|used| used.arguments.clone());
        let arguments = arguments.iter().cloned().chain(added).collect();
        let file = Some(UsedFile { file, entries });
        Ok(Merged { arguments, file })
    }

    /// Returns errors of the merged command line, in terms of the file where they concern the file.
    pub(crate) fn refusal(&self, error: &clap::Error) -> Option<Failure> {
        let used = self.file.as_ref()?;
        problem::of_both(error, &used.file, |key| used.entry(key))
    }

    pub(crate) fn effective(&self, verb: &Command, matches: &ArgMatches) -> Effective {
        Effective::new(verb, matches, |key| {
            let used = self.file.as_ref()?;
            Some(used.file.place(used.entry(key)?.at))
        })
    }
}

impl UsedFile {
    fn entry(&self, key: &str) -> Option<&ConfigEntry> {
        let mut entries = self.entries.iter().map(|one| &self.file.entries[one.entry]);
        entries.find(|entry| entry.key == key)
    }
}

/// Returns the command with nothing required, since the file may have the required options.
fn relaxed(command: Command) -> Command {
    let free = |arg: Arg| {
        arg.required(false)
            .required_unless_present(Resettable::<Id>::Reset)
            .requires(Resettable::<Id>::Reset)
            .conflicts_with(Resettable::<Id>::Reset)
    };
    let names: Vec<String> = command
        .get_subcommands()
        .filter(|verb| verb.get_arguments().any(|arg| arg.get_id() == "config"))
        .map(|verb| verb.get_name().to_owned())
        .collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |verb| verb.mut_args(free))
    })
}

/// Returns the options that a verb's file may have.
fn keys(verb: &Command) -> impl Iterator<Item = &Arg> {
    verb.get_arguments().filter(|arg| {
        let long = arg.get_long();
        long.is_some_and(|long| !NO_KEYS.contains(&long))
    })
}

fn used_entries(
    file: &File,
    relaxed: &Command,
    verb: &str,
    matches: &ArgMatches,
) -> Result<Vec<UsedEntry>, Failure> {
    let command = relaxed
        .find_subcommand(verb)
        .expect("it is the one that was parsed");
    let mut wrong = Vec::new();
    let mut used = Vec::new();
    for (number, entry) in file.entries.iter().enumerate() {
        let Some(arg) = keys(command).find(|arg| arg.get_long() == Some(&entry.key)) else {
            wrong.push(problem::unknown(file, entry, keys(command), relaxed, verb));
            continue;
        };
        let read = texts(arg, entry).map(|texts| arguments(arg, texts, file));
        let read = read.and_then(|arguments| {
            let alone = [OsString::from(relaxed.get_name()), verb.into()];
            let line = alone.into_iter().chain(arguments.iter().cloned());
            match relaxed.clone().try_get_matches_from(line) {
                Ok(_) => Ok(arguments),
                Err(error) => Err(problem::of_value(&error, arg)),
            }
        });
        match read {
            Err(problem) => wrong.push(problem::at(file, entry, &problem)),
            Ok(arguments) => {
                if matches.value_source(arg.get_id().as_str()) != Some(ValueSource::CommandLine) {
                    let entry = number;
                    used.push(UsedEntry { entry, arguments });
                }
            }
        }
    }
    match wrong.is_empty() {
        true => Ok(used),
        false => Err(Failure::Input(wrong.join("\n"))),
    }
}

/// Returns the values of an entry in command-line form; none for a flag that is set.
fn texts(arg: &Arg, entry: &ConfigEntry) -> Result<Option<Vec<String>>, String> {
    let is_flag = matches!(arg.get_action(), ArgAction::SetTrue);
    let is_list = matches!(arg.get_action(), ArgAction::Append);
    let wrong = |value: &Value| {
        let allowed = problem::allowed(arg);
        format!("must not be {}; allowed: {allowed}", value.kind())
    };
    let text = |value: &Value| value.text().ok_or_else(|| wrong(value));
    match &entry.value {
        Value::Boolean(true) if is_flag => Ok(None),
        Value::Boolean(false) if is_flag => Ok(Some(Vec::new())),
        value if is_flag => Err(wrong(value)),
        Value::List(items) if is_list => {
            let texts: Result<Vec<String>, String> = items.iter().map(text).collect();
            Ok(Some(texts?))
        }
        value => Ok(Some(vec![text(value)?])),
    }
}

fn arguments(arg: &Arg, texts: Option<Vec<String>>, file: &File) -> Vec<OsString> {
    let long = arg.get_long().unwrap_or_default();
    let Some(texts) = texts else {
        return vec![format!("--{long}").into()];
    };
    let is_path = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let option = |text: String| {
        let mut option = OsString::from(format!("--{long}="));
        match is_path && !text.is_empty() {
            true => option.push(path(Path::new(&text), file.folder())),
            false => option.push(text),
        }
        option
    };
    texts.into_iter().map(option).collect()
}

/// Resolves a path from a file: the credential of that name if systemd has passed one (LoadCredential=),
/// otherwise relative to the file's folder.
fn path(named: &Path, folder: &Path) -> PathBuf {
    let credentials = env::var_os("CREDENTIALS_DIRECTORY");
    let handed = credentials
        .zip(named.file_name())
        .map(|(folder, name)| Path::new(&folder).join(name));
    handed
        .filter(|path| path.exists())
        .unwrap_or_else(|| folder.join(named))
}

#[cfg(test)]
mod tests;
