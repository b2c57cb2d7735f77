//! Captured TCP segments.

use std::net::SocketAddr;

use super::checked::Checked;
use super::options::Options;

/// A captured TCP segment.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Its sender.
    pub source: SocketAddr,
    /// Its receiver.
    pub destination: SocketAddr,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number.
    pub acknowledgement: u32,
    /// Flags: FIN is 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, AE 256 (RFC 9768).
    pub flags: u16,
    /// The three reserved bits.
    pub reserved: u8,
    /// Advertised window, not scaled.
    pub window: u16,
    /// Urgent pointer.
    pub urgent: u16,
    /// Options.
    pub options: Options,
    /// The payload, as far as it was captured.
    pub payload: Vec<u8>,
    /// Bytes of the payload on the link.
    pub len: usize,
    /// State of the checksum.
    pub checksum: Checked,
}
