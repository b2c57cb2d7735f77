//! `setup`: keys and configuration files of either end, in one command at each.
//!
//! The relay makes the client's key and puts it into a [`token`](token), so that one paste is
//! enough; the relay keeps the public half alone.

mod client;
mod folder;
mod relay;
mod token;

use clap::{Args, Subcommand};

use crate::Failure;

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

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.end {
        End::Relay(arguments) => relay::run(arguments),
        End::Client(arguments) => client::run(arguments),
    }
}
