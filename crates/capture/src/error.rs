//! Why a file could not be written.

use std::io;
use std::path::{Path, PathBuf};

use pcap_file::PcapError;
use ropewalk_quantities::Time;

/// Why a file could not be written. Each names it.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The path's ending says no format.
    #[error("{}: unknown ending of a packet file; allowed: .pcapng, .pcap", path.display())]
    UnknownEnding {
        /// The file.
        path: PathBuf,
    },
    /// The machine did not let us.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the machine says.
        source: io::Error,
    },
    /// The format's clock ends before this packet.
    #[error("cannot write {}: a packet at {time}, which is later than the format can tell", path.display())]
    TooLate {
        /// The file.
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

/// Why a format took no packet.
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

/// What stopped the formats' library, which wraps what the machine says in words
/// about reading.
pub(crate) fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
