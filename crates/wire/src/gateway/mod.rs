//! Protocols between client and relay.
//!
//! A carrier is a TCP connection with a sequence of frames: a type, fixed-length fields in network
//! byte order, and the payload of [`Frame::Data`]. Nothing is negotiated or optional. Parsing a
//! frame checks its values.

mod frame;
mod join;
mod malformed;
pub mod tunnel;

pub use frame::{DATA_HEADER_LEN, Frame, MAX_HEADER_LEN, MAX_OFFSET};
pub use join::{Join, JoinAnswer};
pub use malformed::{MAX_NAME_LEN, MAX_PAYLOAD, MalformedFrame};

/// Length of the AES-GCM authentication tag (NIST SP 800-38D) after encrypted data.
pub const TAG_LEN: usize = 16;
