//! Errors of reading a capture.

use std::io;

/// Why a capture could not be read. The caller adds the file name.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The operating system reported an error.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file header is truncated.
    #[error("{0} bytes are too short for a capture file")]
    TooShort(usize),
    /// The magic number is unknown.
    #[error("unknown magic number {0:08x}, so it is no capture; allowed: pcap, pcapng")]
    Magic(u32),
    /// The version of the file header is not 2.
    #[error("pcap version {0}.{1}; allowed: 2.x")]
    Version(u16, u16),
    /// A block violates the file format.
    #[error("before byte {at}: {what}")]
    Block {
        /// Offset of the block's end, or of its start if the end is unknown.
        at: usize,
        /// Violation.
        what: String,
    },
}
