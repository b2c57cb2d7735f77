//! Why a capture could not be read.

use std::io;

/// Why a capture could not be read; the file's name is the caller's to add.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file ends before its header does.
    #[error("a file of {0} bytes holds no packets")]
    TooShort(usize),
    /// The file begins with no known magic number.
    #[error("unknown magic number {0:08x}, so it is no capture; allowed: pcap, pcapng")]
    Magic(u32),
    /// The file header has another version than 2.
    #[error("pcap version {0}.{1}; allowed: 2.x")]
    Version(u16, u16),
    /// A block violates the file format.
    #[error("before byte {at}: {what}")]
    Block {
        /// The offset of the block's end, or of its start where the end is not known.
        at: usize,
        /// The violation.
        what: String,
    },
}
