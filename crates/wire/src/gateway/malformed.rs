//! Limits of frames, and errors of parsing them.

use thiserror::Error;

pub(super) const VERSION: u8 = 1;

/// Longest name, in bytes.
pub const MAX_NAME_LEN: usize = 64;

/// Longest payload of a [`Frame::Data`](super::frame::Frame::Data). With header and authentication
/// tag it fits an encrypted record of 65 535 bytes.
pub const MAX_PAYLOAD: usize = 65_472;

/// Why bytes are not a valid frame. The rest of the carrier cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MalformedFrame {
    /// The type is unknown.
    #[error("unknown frame type {0}")]
    Type(u8),
    /// The payload is too long.
    #[error("payload of {0} bytes; allowed: at most {MAX_PAYLOAD}")]
    Payload(usize),
    /// The stream is zero.
    #[error("frame of stream 0")]
    Stream,
    /// An offset, size or limit is too large.
    #[error("offset {0}; allowed: below 2^62")]
    Offset(u64),
    /// A rate is zero.
    #[error("terms with a rate of 0 bit/s")]
    Rate,
    /// The protocol version differs.
    #[error("protocol version {0}; supported: {known}", known = VERSION)]
    Version(u8),
    /// A name is too long, not UTF-8, or empty where one is required.
    #[error("invalid name; allowed: UTF-8 of 1 to {max} bytes", max = MAX_NAME_LEN)]
    Name,
}
