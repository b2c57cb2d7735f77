//! Generator of a package's files from the command line: man pages, completions, and a configuration file of
//! each service with all its options.
//!
//!     package_files FOLDER

use std::error::Error;
use std::fs;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};
use clap_complete::Shell;

const NAME: &str = "ropewalk-gateway";

/// The subcommands that are services.
const SERVICES: [&str; 4] = ["client", "proxy", "relay", "tunnel"];

/// Options that are invalid in a file.
const NO_KEYS: [&str; 5] = ["check", "config", "help", "run-hook", "version"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args()
        .nth(1)
        .ok_or("usage: package_files FOLDER")?;
    let folder = Path::new(&folder);
    let mut command = ropewalk_gateway::command();
    command.build();
    for part in ["man", "completion", "example"] {
        fs::create_dir_all(folder.join(part))?;
    }
    // `help` would repeat the pages.
    let described = ropewalk_gateway::command().disable_help_subcommand(true);
    clap_mangen::generate_to(described, folder.join("man"))?;
    for (shell, file) in [
        (Shell::Bash, NAME.to_owned()),
        (Shell::Zsh, format!("_{NAME}")),
        (Shell::Fish, format!("{NAME}.fish")),
    ] {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut command, NAME, &mut script);
        fs::write(folder.join("completion").join(file), script)?;
    }
    for service in SERVICES {
        let verb = command.find_subcommand(service).ok_or("no such verb")?;
        let file = folder
            .join("example")
            .join(format!("{service}.toml.example"));
        fs::write(file, example(verb))?;
    }
    Ok(())
}

/// Returns a configuration file with every option, each commented out.
fn example(verb: &Command) -> String {
    let name = verb.get_name();
    let mut text = format!(
        "# {NAME} {name}: copy this to /etc/ropewalk/{name}.toml, and take the # away before\n\
         # the keys that you set. This command prints the planned actions, or the errors:\n\
         # {NAME} {name} --config /etc/ropewalk/{name}.toml --check\n"
    );
    for arg in verb.get_arguments() {
        let Some(key) = arg.get_long().filter(|key| !NO_KEYS.contains(key)) else {
            continue;
        };
        let help = arg.get_help().map(StyledStr::to_string).unwrap_or_default();
        text += "\n";
        for line in wrapped(&format!("{help}."), 96) {
            text += &format!("# {line}\n");
        }
        text += &format!("#{key} = {}\n", value(arg));
    }
    text
}

/// Returns the default, or else the kind of value.
fn value(arg: &Arg) -> String {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return "false".to_owned();
    }
    let default = arg.get_default_values().first();
    let value = match default.map(|value| value.to_string_lossy().into_owned()) {
        Some(value) if value.parse::<i64>().is_ok() => value,
        Some(value) => format!("{value:?}"),
        None => {
            let names = arg.get_value_names().unwrap_or_default();
            let name = names.first().map_or("VALUE", |name| name.as_str());
            format!("{name:?}")
        }
    };
    match arg.get_action() {
        ArgAction::Append => format!("[{value}]"),
        _ => value,
    }
}

/// Wraps a text at `width` characters.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is a first");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            let space = if line.is_empty() { "" } else { " " };
            *line += &format!("{space}{word}");
        }
    }
    lines
}
