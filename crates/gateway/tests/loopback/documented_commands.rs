//! The gateway commands in the documentation are valid.

use std::fs;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

fn pages() -> Vec<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let folders = ["gateway", "tunnel"].map(|folder| fs::read_dir(docs.join(folder)).unwrap());
    let entries = folders.into_iter().flatten();
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.extend(["gateway.md", "tunnel.md", "exec.md"].map(|page| docs.join(page)));
    pages
}

/// Splits a shell line into words, without its comment; quotes are single ones.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
            continue;
        }
        for word in part.split_whitespace() {
            if word.starts_with('#') || ["|", ">", "&", "&&"].contains(&word) {
                return words;
            }
            words.push(word.to_owned());
        }
    }
    words
}

/// Returns the gateway's commands in shell blocks, from the subcommand on.
fn commands(page: &str, verbs: &[String]) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    for block in page.split("```sh\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let block = block.replace("\\\n", " ");
        for line in block.lines() {
            let mut words = words(line).into_iter().peekable();
            words.next_if_eq("sudo");
            let program = words.next().unwrap_or_default();
            if ["ropewalk", "ropewalk-gateway"].contains(&program.as_str())
                && words.peek().is_some_and(|verb| verbs.contains(verb))
            {
                commands.push(words.collect());
            }
        }
    }
    commands
}

#[test]
fn documented_commands_are_valid() {
    let mut gateway = ropewalk_gateway::command();
    gateway.build();
    let verbs = gateway.get_subcommands();
    let verbs: Vec<String> = verbs.map(|verb| verb.get_name().to_owned()).collect();
    let mut seen = Vec::new();
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for words in commands(&page, &verbs) {
            let line = [&["ropewalk-gateway".to_owned()], &words[..]].concat();
            let understood = gateway.clone().try_get_matches_from(line);
            // A configuration file has the options that the command lacks.
            let is_in_file = |error: &clap::Error| {
                error.kind() == ErrorKind::MissingRequiredArgument
                    && words.iter().any(|word| word == "--config")
            };
            if let Some(error) = understood.err().filter(|error| !is_in_file(error)) {
                panic!("{}: {}: {error}", path.display(), words.join(" "));
            }
            seen.push(words[0].clone());
        }
    }
    for verb in [
        "keygen", "relay", "proxy", "tunnel", "setup", "status", "measure",
    ] {
        assert!(seen.iter().any(|known| known == verb), "{verb}: {seen:?}");
    }
}
