//! Captured packets.

use crate::record::Direction;

use super::content::Content;

/// A captured packet.
#[derive(Clone, Debug)]
pub struct CapturedPacket {
    /// Its number in the file, from 1.
    pub number: u64,
    /// Its time in nanoseconds since 1970. A packet without a time has that of the packet before it.
    pub time_ns: i64,
    /// The index of its interface in the list of the reader.
    pub interface: usize,
    /// Its direction, if the file, the link header or an address tells.
    pub direction: Option<Direction>,
    /// Whether all of its bytes were captured.
    pub is_whole: bool,
    /// Its comments.
    pub comments: Vec<String>,
    /// Its headers, and the TCP segment in it.
    pub content: Content,
}
