//! `setup`: keys and configuration files of either end, in one command at each.
//!
//! The relay makes the client's key and puts it into a [`token`](token), so that one paste is
//! enough; the relay keeps the public half alone.

mod client;
mod folder;
mod relay;
mod token;

use std::path::Path;

use clap::{Args, Subcommand};

use crate::{Failure, tunnel};

/// Write keys and configuration files: first at the relay, then at the client with the relay's
/// token.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: a van and its relay
  sudo ropewalk-gateway setup relay relay.example.org --client van     # prints a token
  sudo ropewalk-gateway setup client                                   # in the van; asks for it")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    end: End,
}

#[derive(Debug, Subcommand)]
enum End {
    Relay(relay::Arguments),
    Client(client::Arguments),
}

/// What reads the options of a configuration file.
pub(crate) struct Readers {
    pub(crate) relay: fn(&Path) -> Result<crate::relay::Arguments, Failure>,
    pub(crate) tunnel: fn(&Path) -> Result<tunnel::Arguments, Failure>,
}

pub(crate) fn run(arguments: &Arguments, readers: &Readers) -> Result<(), Failure> {
    match &arguments.end {
        End::Relay(arguments) => relay::run(arguments, readers),
        End::Client(arguments) => client::run(arguments),
    }
}
