//! Protocols between the gateway's two ends.
//!
//! A carrier is a TCP connection that carries frames one after another: a type, fields of fixed length in
//! network byte order, and for [`Frame::Data`] the payload. Nothing is negotiated and nothing is optional;
//! the values of a frame are checked when it is parsed.

mod frame;
mod join;
mod malformed;
pub mod tunnel;

pub use frame::{DATA_HEADER_LEN, Frame, MAX_HEADER_LEN, MAX_OFFSET};
pub use join::{Join, JoinAnswer};
pub use malformed::{MAX_NAME_LEN, MAX_PAYLOAD, MalformedFrame};

/// Length of the authentication tag of AES-GCM (NIST SP 800-38D), at the end of all encrypted data.
pub const TAG_LEN: usize = 16;
