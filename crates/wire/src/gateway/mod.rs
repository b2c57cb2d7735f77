//! What the gateway's two ends say to each other.
//!
//! A carrier is a TCP connection, so its bytes are frames one after another: a
//! type, fields of fixed length in network byte order, and for [`Frame::Data`]
//! the payload. Nothing is negotiated and nothing is optional; what a frame may
//! say is bounded here, before anybody sees it.

mod frame;
mod join;
mod malformed;
pub mod tunnel;

pub use frame::{DATA_HEADER_LEN, Frame, MAX_HEADER_LEN, MAX_OFFSET};
pub use join::{Join, JoinAnswer};
pub use malformed::{MAX_NAME_LEN, MAX_PAYLOAD, MalformedFrame};

/// What ends all that is sealed: the tag of AES-GCM (NIST SP 800-38D).
pub const TAG_LEN: usize = 16;
