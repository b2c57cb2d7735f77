//! Properties of arbitrary capture files, for the fuzz target and the replay of its corpus.

use std::collections::HashSet;
use std::io::Cursor;

use ropewalk_capture::reading::{CaptureReader, ReadError, Unwrapping};

/// Numbers of all packets, and of packets with a TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub packets: u64,
    pub segments: u64,
}

/// Reads a capture to its end or first error.
///
/// Positions never decrease. No packet has both a segment and a reason without one. Reading on
/// after the end or an error returns nothing.
pub fn check(bytes: &[u8]) -> Result<Tally, ReadError> {
    let capture = Cursor::new(bytes.to_vec());
    let mut reader = CaptureReader::from_bytes(capture, Unwrapping::default(), HashSet::new())?;
    let (mut tally, mut position) = (Tally::default(), 0);
    let end = loop {
        match reader.next_packet() {
            Ok(Some(packet)) => {
                tally.packets += 1;
                tally.segments += u64::from(packet.content.segment.is_some());
                let content = &packet.content;
                assert!(content.segment.is_none() || content.skipped.is_none());
                assert!(reader.position() >= position);
                position = reader.position();
            }
            Ok(None) => break Ok(tally),
            Err(error) => break Err(error),
        }
    };
    assert!(matches!(reader.next_packet(), Ok(None)));
    end
}
