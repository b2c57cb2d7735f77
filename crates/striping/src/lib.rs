//! Bandwidth aggregation above TCP (elahi-2011), without sockets.
//!
//! The sender cuts what the application writes into packets, numbers them, and
//! puts each whole on one of several TCP connections; the receiver puts them in
//! order again. Which connection is a scheduler's to say. As in the transport,
//! payload is lengths, not bytes.

mod header;
mod reassembler;
mod splitter;

pub use header::Header;
pub use reassembler::Reassembler;
pub use splitter::{Packet, Splitter};
