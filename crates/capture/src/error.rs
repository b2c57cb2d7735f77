//! Errors of writing files.

use std::io;
use std::path::{Path, PathBuf};

use pcap_file::PcapError;
use ropewalk_quantities::Time;

/// Why a file could not be written, with its name.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file extension is unknown.
    #[error("{}: unknown extension of a {what}; allowed: {allowed}", path.display())]
    UnknownEnding {
        /// File name.
        path: PathBuf,
        /// Expected content.
        what: &'static str,
        /// Known extensions.
        allowed: &'static str,
    },
    /// The operating system reported an error.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// File name.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The packet's time exceeds the format's range.
    #[error("cannot write {}: packet time {time} exceeds the format's range", path.display())]
    TooLate {
        /// File name.
        path: PathBuf,
        /// The packet's time in the run.
        time: Time,
    },
}

impl FileError {
    pub(crate) fn io(path: &Path, source: io::Error) -> FileError {
        FileError::Io {
            path: path.to_owned(),
            source,
        }
    }
}

#[derive(Debug)]
pub(crate) enum WriteError {
    Io(io::Error),
    TooLate,
}

impl WriteError {
    pub(crate) fn in_file(self, path: &Path, time: Time) -> FileError {
        match self {
            WriteError::Io(source) => FileError::io(path, source),
            WriteError::TooLate => FileError::TooLate {
                path: path.to_owned(),
                time,
            },
        }
    }
}

impl From<PcapError> for WriteError {
    fn from(error: PcapError) -> WriteError {
        WriteError::Io(into_io(error))
    }
}

/// The I/O error inside the library's error, whose message mentions reading.
pub(crate) fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
