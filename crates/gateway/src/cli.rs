//! The command line; each verb has a file of its own.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use tracing_subscriber::filter::LevelFilter;

use crate::configuration::Merged;
use crate::output::{self, StandardError};
use crate::setup::Readers;
use crate::watch;
use crate::{Failure, exec, given, keygen, measure, proxy, relay, setup, tunnel};

/// Lay the real links of this machine together.
#[derive(Debug, Parser)]
#[command(name = "ropewalk-gateway", version, about, max_term_width = 100)]
struct Command {
    /// What is logged on standard error: error, warn, info, debug, trace.
    #[arg(long, global = true, default_value = "info", value_name = "LEVEL", value_parser = given::level)]
    log: LevelFilter,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Print what lets a shell complete this program's command line.
    #[command(after_help = "\
Example: for bash, in this shell
  source <(ropewalk-gateway completion bash)")]
    Completion {
        /// The shell.
        shell: Shell,
    },
    Exec(exec::Arguments),
    Keygen(keygen::Arguments),
    Measure(Box<measure::Arguments>),
    Proxy(Box<proxy::Arguments>),
    Relay(Box<relay::Arguments>),
    Setup(setup::Arguments),
    Status(watch::Arguments),
    Tunnel(Box<tunnel::Arguments>),
}

/// A command line, kept so that it can be read again together with its configuration file.
#[derive(Clone, Debug)]
struct CommandLine(Vec<OsString>);

/// A command line combined with its configuration file.
#[derive(Debug)]
struct ParsedCommand {
    command: Command,
    /// The effective options, as a configuration file; empty for a verb without one.
    effective: String,
}

/// Why a command line cannot be carried out.
#[derive(Debug)]
enum ParseError {
    /// It is wrong, or asks for help.
    CommandLine(clap::Error),
    /// Its configuration file is wrong.
    File(Failure),
}

impl CommandLine {
    /// The options of `relay`.
    fn relay(&self) -> Result<relay::Arguments, Failure> {
        match self.verb()? {
            Verb::Relay(arguments) => Ok(*arguments),
            _ => unreachable!("the command line has the verb"),
        }
    }

    /// The options of `proxy`.
    fn proxy(&self) -> Result<proxy::Arguments, Failure> {
        match self.verb()? {
            Verb::Proxy(arguments) => Ok(*arguments),
            _ => unreachable!("the command line has the verb"),
        }
    }

    /// The options of `tunnel`.
    fn tunnel(&self) -> Result<tunnel::Arguments, Failure> {
        match self.verb()? {
            Verb::Tunnel(arguments) => Ok(*arguments),
            _ => unreachable!("the command line has the verb"),
        }
    }

    /// A command line of a verb with a configuration file and nothing else.
    fn of_file(verb: &str, file: &Path) -> CommandLine {
        let words = ["ropewalk-gateway", verb, "--config"].map(OsString::from);
        CommandLine(words.into_iter().chain([file.into()]).collect())
    }

    /// The verb with its options.
    fn verb(&self) -> Result<Verb, Failure> {
        match self.read() {
            Ok(parsed) => Ok(parsed.command.verb),
            Err(ParseError::File(failure)) => Err(failure),
            Err(ParseError::CommandLine(error)) => Err(Failure::Input(one_line(&error))),
        }
    }

    /// Reads all options, including those of a configuration file. It may be called again to read the file's
    /// new content.
    fn read(&self) -> Result<ParsedCommand, ParseError> {
        let mut command = Command::command();
        let merged = Merged::read(&command, self.0.clone()).map_err(ParseError::File)?;
        let parsed = command.try_get_matches_from_mut(&merged.arguments);
        let parsed = parsed.and_then(|matches| {
            let verb = matches.subcommand();
            let verb = verb.and_then(|(name, options)| {
                let verb = command.find_subcommand(name)?;
                Some(merged.effective(verb, options))
            });
            Ok(ParsedCommand {
                command: Command::from_arg_matches(&matches)?,
                effective: verb.unwrap_or_default(),
            })
        });
        parsed.map_err(|error| match merged.refusal(&error) {
            Some(failure) => ParseError::File(failure),
            None => ParseError::CommandLine(error),
        })
    }
}

/// The whole command line, for generating manual pages and completions.
#[must_use]
pub fn command() -> clap::Command {
    Command::command()
}

/// Carries out a command line; the first argument is the program's name.
///
/// Returns the exit status: 0 on success, 1 on failure, 2 if the command line is wrong.
pub fn main(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
    output::occupy_standard_descriptors();
    let line = CommandLine(arguments.into_iter().map(Into::into).collect());
    let done = match line.read() {
        Ok(parsed) => perform(parsed, line),
        Err(ParseError::CommandLine(error)) => answer(&error),
        Err(ParseError::File(failure)) => Err(failure),
    };
    let status = match done {
        Ok(()) => 0,
        Err(failure) => {
            output::say(format_args!("{failure}\n"));
            failure.exit_status()
        }
    };
    output::settle();
    status
}

fn perform(parsed: ParsedCommand, line: CommandLine) -> Result<(), Failure> {
    let ParsedCommand { command, effective } = parsed;
    // Another call in the same interpreter may have installed it already.
    let _ = tracing_subscriber::fmt()
        .with_max_level(command.log)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(StandardError)
        .with_target(false)
        .try_init();
    match command.verb {
        Verb::Completion { shell } => completion(shell),
        Verb::Exec(arguments) => exec::run(&arguments),
        Verb::Keygen(arguments) => keygen::run(&arguments),
        Verb::Measure(arguments) => measure::run(*arguments),
        Verb::Proxy(arguments) if arguments.file.check => {
            checked(&proxy::check(&arguments)?, &effective)
        }
        Verb::Proxy(arguments) => proxy::run(*arguments, || line.proxy()),
        Verb::Relay(arguments) if arguments.file.check => {
            checked(&relay::check(&arguments)?, &effective)
        }
        Verb::Relay(arguments) => relay::run(*arguments, || line.relay()),
        Verb::Setup(arguments) => setup::run(
            &arguments,
            &Readers {
                relay: |file| CommandLine::of_file("relay", file).relay(),
                tunnel: |file| CommandLine::of_file("tunnel", file).tunnel(),
            },
        ),
        Verb::Status(arguments) => watch::run(&arguments),
        Verb::Tunnel(arguments) if arguments.file.check => {
            checked(&tunnel::check(&arguments)?, &effective)
        }
        Verb::Tunnel(arguments) => tunnel::run(*arguments, || line.tunnel()),
    }
}

/// Prints what a verb would do, and its effective options.
fn checked(sentences: &[String], effective: &str) -> Result<(), Failure> {
    let said: String = sentences.iter().map(|line| format!("# {line}\n")).collect();
    output::print(&(said + effective))
}

fn completion(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut Command::command(),
        "ropewalk-gateway",
        &mut script,
    );
    output::print(&String::from_utf8_lossy(&script))
}

/// Help goes to standard output; what is wrong becomes one line.
fn answer(error: &clap::Error) -> Result<(), Failure> {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        return output::print(&error.to_string());
    }
    Err(Failure::Input(one_line(error)))
}

fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let lines = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let line = words.join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}
