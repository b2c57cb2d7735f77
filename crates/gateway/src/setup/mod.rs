//! `setup`: creates the keys and configuration files of each end, with one command at each.
//!
//! The relay creates the client's key and puts it into a [`token`](token), so that a single paste suffices;
//! the relay keeps only the public key.

mod client;
mod folder;
mod relay;
mod token;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::{Failure, tunnel};

/// Write keys and configuration files, first at the relay, then at the client with the relay's token.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: a van and its relay
  sudo ropewalk-gateway setup relay relay.example.org --client van     # prints a token
  sudo ropewalk-gateway setup client                                   # in the van; asks for it")]
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

pub(crate) fn run(arguments: &Arguments, readers: &Readers) -> Result<(), Failure> {
    match &arguments.end {
        SetupCommand::Relay(arguments) => relay::run(arguments, readers),
        SetupCommand::Client(arguments) => client::run(arguments),
    }
}
