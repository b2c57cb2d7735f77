//! Reading of packets from pcapng and pcap files of any program.
//!
//! Four steps, called in turn by the module `layers`:
//! - blocks of the capture file ([`CaptureReader`], on the `pcap-parser` crate),
//! - the link header (`link`, `wifi`),
//! - IP with extension headers, fragments and tunnels (`network`, `tunnel`, on `etherparse`),
//! - the TCP segment with its options (`tcp`, `options`, on `etherparse` and
//!   [`TcpOptions`](ropewalk_wire::TcpOptions)).
//!
//! Only the TCP options share code with the writers of this crate. A packet without a readable TCP
//! header has a reason in [`Content::skipped`]. No input makes the reader panic.

mod bytes;
mod checksum_state;
mod content;
mod error;
mod fault;
mod file;
mod fragments;
mod input;
mod interface;
mod layers;
mod link;
mod network;
mod next;
mod options;
mod packet;
mod segment;
mod tcp;
#[cfg(test)]
mod tests;
mod tunnel;
mod wifi;

pub use checksum_state::ChecksumState;
pub use content::Content;
pub use error::ReadError;
pub use fault::Fault;
pub use file::CaptureReader;
pub use interface::CapturedInterface;
pub use options::{Multipath, Options};
pub use packet::CapturedPacket;
pub use segment::Segment;
pub use tunnel::Unwrapping;
