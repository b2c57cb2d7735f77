//! `keygen`: creates a key pair.

use std::io::ErrorKind;
use std::path::PathBuf;

use clap::Args;

use crate::keys::{KeyFileError, SecretKey, write_key_files};
use crate::{Failure, output};

/// Generate a key pair: NAME.key for this end, to keep secret, and NAME.pub for the other end.
#[derive(Debug, Args)]
#[command(after_help = "\
Example: a relay that knows one client
  ropewalk-gateway keygen relay          # at the relay: relay.key, relay.pub
  ropewalk-gateway keygen van            # at the client: van.key, van.pub
  cat van.pub >> clients         # at the relay, with the client's van.pub")]
pub struct Arguments {
    /// Path of both files without .key and .pub. Its last part is also the name in NAME.pub.
    name: PathBuf,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let secret = SecretKey::generate();
    let written = write_key_files(&arguments.name, &secret);
    let files = written.map_err(|error| match error {
        KeyFileError::Name { .. } | KeyFileError::Exists { .. } => Failure::input(error),
        KeyFileError::File { ref source, .. }
            if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&source.kind()) =>
        {
            Failure::input(format!("{error}; allowed: a name in an existing folder"))
        }
        _ => Failure::run(error),
    })?;
    output::print(&format!(
        "{} (keep it secret)\n{}\n",
        files.secret.display(),
        files.public.display()
    ))
}
