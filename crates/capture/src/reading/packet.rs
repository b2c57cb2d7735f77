//! Captured packets.

use crate::record::Direction;

use super::content::Content;

/// A captured packet.
#[derive(Clone, Debug)]
pub struct CapturedPacket {
    /// Number in the file, from 1.
    pub number: u64,
    /// Nanoseconds since 1970. A packet without a time has its predecessor's.
    pub time_ns: i64,
    /// Index of its interface in the reader's list.
    pub interface: usize,
    /// Direction, if the file, the link header or an address shows it.
    pub direction: Option<Direction>,
    /// Whether all bytes were captured.
    pub is_whole: bool,
    /// Comments.
    pub comments: Vec<String>,
    /// Headers and TCP segment.
    pub content: Content,
}
