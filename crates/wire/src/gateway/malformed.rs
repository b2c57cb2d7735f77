//! What bytes on a carrier must keep to, and why they are refused.

use thiserror::Error;

/// Version of this protocol.
pub(super) const VERSION: u8 = 1;

/// Most bytes of a name.
pub const MAX_NAME_LEN: usize = 64;

/// Most payload of a [`Frame::Data`], in bytes: with header and authentication tag it still fits
/// an encrypted record of 65 535 bytes.
pub const MAX_PAYLOAD: usize = 65_472;

/// Why bytes are no frame. Nothing that follows on the carrier can be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MalformedFrame {
    /// No such type.
    #[error("unknown frame type {0}")]
    Type(u8),
    /// Data with more payload than a frame may have.
    #[error("payload of {0} bytes, allowed are at most {MAX_PAYLOAD}")]
    Payload(usize),
    /// Stream zero, which is none.
    #[error("frame of stream 0")]
    Stream,
    /// A place, size or limit beyond what streams can have.
    #[error("offset {0}, allowed are those below 2^62")]
    Offset(u64),
    /// Terms with a rate of zero.
    #[error("terms with a rate of 0 bit/s")]
    Rate,
    /// A join of another version of this protocol.
    #[error("version {0} of the protocol, known is {known}", known = VERSION)]
    Version(u8),
    /// A name that is too long, or no UTF-8, or empty where one is needed.
    #[error("a name that is none: UTF-8 of 1 to {max} bytes", max = MAX_NAME_LEN)]
    Name,
}
