//! `setup`: creates the keys and configuration files of each end, with one command at each.
//!
//! The relay creates the client's key and puts it into a [`token`](token), so that a single paste suffices;
//! the relay keeps only the public key.

mod client;
mod folder;
mod metered;
mod relay;
mod token;

use std::net::IpAddr;
use std::path::Path;

use clap::{Args, Subcommand};

use crate::{Failure, tunnel};

/// Write keys and configuration files, first at the relay, then at the client with the relay's token.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: a van and its relay
  sudo ropewalk-gateway setup relay relay.example.org --client van --dns 9.9.9.9   # prints a token
  sudo ropewalk-gateway setup client                                               # in the van; asks for it")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    end: SetupCommand,
}

#[derive(Debug, Subcommand)]
enum SetupCommand {
    Relay(relay::Arguments),
    Client(client::Arguments),
}

pub(crate) struct Readers {
    pub(crate) relay: fn(&Path) -> Result<crate::relay::Arguments, Failure>,
    pub(crate) tunnel: fn(&Path) -> Result<tunnel::Arguments, Failure>,
}

/// Program that tunnel.toml names as the hook.
const HOOK: &str = "/usr/lib/ropewalk/tunnel-hook";

/// Returns warnings, one a line, about name servers and the hook of a tunnel. `dns` is empty without a name
/// server, and `cure` sets one.
fn warnings(dns: &[IpAddr], cure: &str, hook: &Path) -> String {
    let mut text = String::new();
    if dns.is_empty() {
        text += "Warning: no --dns. The kill switch of the client's tunnel blocks the name servers of its \
                 links,\nsuch as its router, so that no name resolves. ";
        text += cure;
        text += "\n";
    }
    if !hook.exists() {
        text += &format!(
            "Warning: {} does not exist, and the tunnel needs it. Install the package, or copy \
             packaging/hooks/tunnel-hook.\n",
            hook.display()
        );
    }
    text
}

pub(crate) fn run(arguments: &Arguments, readers: &Readers) -> Result<(), Failure> {
    match &arguments.end {
        SetupCommand::Relay(arguments) => relay::run(arguments, readers),
        SetupCommand::Client(arguments) => client::run(arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_name_missing_name_servers_and_hook() {
        let hook = std::env::current_exe().unwrap();
        let cure = "Set dns in tunnel.toml.";
        assert_eq!(warnings(&["9.9.9.9".parse().unwrap()], cure, &hook), "");
        let no_dns = warnings(&[], cure, &hook);
        assert!(no_dns.starts_with("Warning: no --dns."), "{no_dns}");
        assert!(no_dns.ends_with("Set dns in tunnel.toml.\n"), "{no_dns}");
        let no_hook = warnings(&["9.9.9.9".parse().unwrap()], cure, Path::new("/none"));
        assert!(
            no_hook.starts_with("Warning: /none does not exist"),
            "{no_hook}"
        );
    }
}
