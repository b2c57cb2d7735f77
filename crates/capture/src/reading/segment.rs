//! Captured TCP segments.

use std::net::SocketAddr;

use super::checksum_state::ChecksumState;
use super::options::Options;

/// A captured TCP segment.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port.
    pub destination: SocketAddr,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Flags: FIN is 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, AE 256 (RFC 9768).
    pub flags: u16,
    /// The three reserved bits.
    pub reserved: u8,
    /// Advertised window, unscaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options.
    pub options: Options,
    /// Captured payload.
    pub payload: Vec<u8>,
    /// Payload length on the link, bytes.
    pub len: usize,
    /// State of the checksum.
    pub checksum: ChecksumState,
}
