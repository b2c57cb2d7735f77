//! Command line; each verb has a module of its own.

use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::Path;

use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::configuration::{Effective, Merged, Reread};
use crate::output::{self, StandardError};
use crate::setup::Readers;
use crate::status_command;
use crate::{Failure, client, exec, keygen, measure, option_parsers, proxy, relay, setup, tunnel};

/// Bond the real links of this machine: as a client for all traffic, as a proxy or a tunnel alone, and as
/// their relay.
#[derive(Debug, Parser)]
#[command(name = "ropewalk-gateway", version, about, max_term_width = 100)]
struct Command {
    /// Least severe level of messages on standard error: error, warn, info, debug, trace.
    #[arg(long, global = true, default_value = "info", value_name = "LEVEL", value_parser = option_parsers::level)]
    log: LevelFilter,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Client(Box<client::Arguments>),
    /// Print a script that lets a shell complete the command lines of this program.
    #[command(after_help = "\
Example: for bash, in this shell
  source <(ropewalk-gateway completion bash)")]
    Completion {
        /// Shell for which the script is printed.
        shell: Shell,
    },
    Exec(exec::Arguments),
    Keygen(keygen::Arguments),
    Measure(Box<measure::Arguments>),
    Proxy(Box<proxy::Arguments>),
    Relay(Box<relay::Arguments>),
    Setup(setup::Arguments),
    Status(status_command::Arguments),
    Tunnel(Box<tunnel::Arguments>),
}

#[derive(Clone, Debug)]
struct CommandLine(Vec<OsString>);

#[derive(Debug)]
struct ParsedCommand {
    command: Command,
    /// Empty for a verb without a configuration file.
    effective: Effective,
}

#[derive(Debug)]
enum ParseError {
    /// Wrong, or a request for help.
    CommandLine(clap::Error),
    File(Failure),
}

impl CommandLine {
    /// Creates the command line of a verb with a configuration file and nothing else.
    fn of_file(verb: &str, file: &Path) -> CommandLine {
        let words = ["ropewalk-gateway", verb, "--config"].map(OsString::from);
        CommandLine(words.into_iter().chain([file.into()]).collect())
    }

    /// Reads the verb's options again, and compares them with the options at the start.
    fn reread<A>(
        &self,
        before: &Effective,
        arguments: fn(Verb) -> A,
    ) -> Result<Reread<A>, Failure> {
        let parsed = self.read()?;
        let arguments = arguments(parsed.command.verb);
        Ok(Reread::new(arguments, before, &parsed.effective))
    }

    /// Returns a command that runs this command line in another process. Errors: the process does more.
    fn restart(&self) -> Result<std::process::Command, Failure> {
        let failed = |problem: &str| Failure::run(format!("no process to run the hook: {problem}"));
        let process: Vec<OsString> = env::args_os().collect();
        let own = self.0.get(1..).unwrap_or_default();
        let (Some(name), true) = (process.first(), process.ends_with(own)) else {
            return Err(failed("this is not the process of the command line"));
        };
        let program = env::current_exe().map_err(|error| failed(&error.to_string()))?;
        let mut command = std::process::Command::new(program);
        command.arg0(name).args(&process[1..]);
        Ok(command)
    }

    /// Reads all options, including those of a configuration file, which each call reads again.
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

impl Verb {
    fn client(self) -> client::Arguments {
        match self {
            Verb::Client(arguments) => *arguments,
            _ => unreachable!("the command line has the verb"),
        }
    }

    fn relay(self) -> relay::Arguments {
        match self {
            Verb::Relay(arguments) => *arguments,
            _ => unreachable!("the command line has the verb"),
        }
    }

    fn proxy(self) -> proxy::Arguments {
        match self {
            Verb::Proxy(arguments) => *arguments,
            _ => unreachable!("the command line has the verb"),
        }
    }

    fn tunnel(self) -> tunnel::Arguments {
        match self {
            Verb::Tunnel(arguments) => *arguments,
            _ => unreachable!("the command line has the verb"),
        }
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Failure {
        match error {
            ParseError::File(failure) => failure,
            ParseError::CommandLine(error) => Failure::Input(one_line(&error)),
        }
    }
}

/// Returns the command line with all verbs.
#[must_use]
pub fn command() -> clap::Command {
    Command::command()
}

/// Runs a command line; the first argument is the program's name.
///
/// Returns the exit status: 0 on success, 1 on failure, 2 if the command line is wrong.
pub fn main(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> u8 {
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
    // The resolver warns of each late answer of a name server.
    let of_resolver = match command.log >= LevelFilter::DEBUG {
        true => command.log,
        false => command.log.min(LevelFilter::ERROR),
    };
    let targets = Targets::new().with_default(command.log);
    let _ = tracing_subscriber::fmt()
        .with_max_level(command.log)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(StandardError)
        .with_target(false)
        .finish()
        .with(targets.with_target("hickory", of_resolver))
        .try_init();
    match command.verb {
        Verb::Client(arguments) if arguments.file.check => {
            checked(&client::check(&arguments)?, &effective)
        }
        Verb::Client(arguments) => {
            let again = || line.reread(&effective, Verb::client);
            client::run(*arguments, again, || line.restart())
        }
        Verb::Completion { shell } => completion(shell),
        Verb::Exec(arguments) => exec::run(&arguments),
        Verb::Keygen(arguments) => keygen::run(&arguments),
        Verb::Measure(arguments) => measure::run(*arguments),
        Verb::Proxy(arguments) if arguments.file.check => {
            checked(&proxy::check(&arguments)?, &effective)
        }
        Verb::Proxy(arguments) => proxy::run(*arguments, || line.reread(&effective, Verb::proxy)),
        Verb::Relay(arguments) if arguments.file.check => {
            checked(&relay::check(&arguments)?, &effective)
        }
        Verb::Relay(arguments) => {
            let again = || line.reread(&effective, Verb::relay);
            relay::run(*arguments, again, || line.restart())
        }
        Verb::Setup(arguments) => setup::run(
            &arguments,
            &Readers {
                relay: |file| {
                    Ok(CommandLine::of_file("relay", file)
                        .read()?
                        .command
                        .verb
                        .relay())
                },
                tunnel: |file| {
                    Ok(CommandLine::of_file("tunnel", file)
                        .read()?
                        .command
                        .verb
                        .tunnel())
                },
            },
        ),
        Verb::Status(arguments) => status_command::run(&arguments),
        Verb::Tunnel(arguments) if arguments.file.check => {
            checked(&tunnel::check(&arguments)?, &effective)
        }
        Verb::Tunnel(arguments) => {
            let again = || line.reread(&effective, Verb::tunnel);
            tunnel::run(*arguments, again, || line.restart())
        }
    }
}

/// Prints the actions of a verb and its effective options.
fn checked(sentences: &[String], effective: &Effective) -> Result<(), Failure> {
    let comments: String = sentences.iter().map(|line| format!("# {line}\n")).collect();
    output::print(&format!("{comments}{effective}"))
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

/// Prints help on standard output, or an error as one line.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_tunnel_option_is_reloaded_or_needs_a_restart() {
        const BEFORE: &str = "relay = '192.0.2.1:4434'\nrelay-key = 'relay.pub'\nkey = 'van.key'\n\
            link = 'one=eth0'\naddress = '10.9.0.2/24'\n";
        const ADDED: [&str; 27] = [
            "allow = 'private'",
            "buffer = '1MiB'",
            "client-connections = 7",
            "control = 'sock'",
            "copies = '64kbit/s'",
            "default-route = true",
            "deny = '10.0.0.0/8'",
            "device = 'van'",
            "dns = '192.0.2.2'",
            "forward = 'tcp:80=10.9.0.3'",
            "hook = 'hook'",
            "leak = 'block'",
            "link-mtu = 1400",
            "log = 'debug'",
            "mark = 7",
            "masquerade = true",
            "peer = '10.9.0.1'",
            "plaintext = true",
            "plaintext-anywhere = true",
            "preference = 7",
            "quota-state = 'quota'",
            "route = '10.20.0.0/16'",
            "scheduler = 'redundant'",
            "skew = '10ms'",
            "status = '127.0.0.1:9090'",
            "table = 7",
            "user = 'nobody'",
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tunnel.toml");
        let line = CommandLine::of_file("tunnel", &path);
        let write = |text: String| std::fs::write(&path, text).unwrap();
        write(BEFORE.to_owned());
        let before = line.read().unwrap().effective;
        write(BEFORE.replace("eth0", "eth1") + &ADDED.join("\n"));
        let again = line.reread(&before, Verb::tunnel).unwrap();
        let mut messages = again.restarts(&["link"]);
        messages.sort_unstable();
        let expected = ADDED.map(|line| {
            let (key, _) = line.split_once(' ').unwrap();
            format!("{key} takes a restart")
        });
        assert_eq!(messages, expected);
        // The tunnel's text above lacks the peer's options, options that no file may have, and `naive`, which
        // excludes some of its options.
        let mut command = command();
        command.build();
        let verb = command.find_subcommand("tunnel").unwrap();
        let others = [
            "listen", "clients", "naive", "config", "check", "run-hook", "help",
        ];
        let seen = BEFORE.lines().chain(ADDED).chain(others);
        let seen: Vec<&str> = seen.filter_map(|line| line.split(' ').next()).collect();
        let all = verb.get_arguments().filter_map(clap::Arg::get_long);
        let unseen: Vec<&str> = all.filter(|key| !seen.contains(key)).collect();
        assert!(unseen.is_empty(), "{unseen:?}");

        for (option, key) in [("skew = '10ms'\n", "skew"), ("naive = true\n", "naive")] {
            write(BEFORE.to_owned() + option);
            let before = line.read().unwrap().effective;
            write(BEFORE.to_owned());
            let again = line.reread(&before, Verb::tunnel).unwrap();
            assert_eq!(again.restarts(&[]), [format!("{key} takes a restart")]);
        }
    }
}
