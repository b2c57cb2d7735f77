//! MAC frames: data, ACK, RTS and CTS (IEEE 802.11-2016, 9.3.1 and 9.3.2).

use crate::error::Malformed;
use crate::field::{array, at_least, put};

/// A MAC address.
pub type MacAddress = [u8; 6];

/// A frame of an ad hoc network, without frame check sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacFrame<'a> {
    /// A packet.
    Data {
        /// Retransmission.
        retry: bool,
        /// Duration field, microseconds.
        duration_us: u16,
        /// Receiver address.
        receiver: MacAddress,
        /// Transmitter address.
        transmitter: MacAddress,
        /// Sequence number, modulo 4096.
        sequence: u16,
        /// The IP packet.
        packet: &'a [u8],
    },
    /// Request to send.
    Rts {
        /// Duration field, microseconds.
        duration_us: u16,
        /// Receiver address.
        receiver: MacAddress,
        /// Transmitter address.
        transmitter: MacAddress,
    },
    /// Clear to send.
    Cts {
        /// Duration field, microseconds.
        duration_us: u16,
        /// Receiver address.
        receiver: MacAddress,
    },
    /// Acknowledgement.
    Ack {
        /// Receiver address.
        receiver: MacAddress,
    },
}

/// BSSID of the only network, locally administered.
const BSSID: MacAddress = [0x02, 0x52, 0x57, 0, 0, 0];
/// LLC and SNAP before an EtherType (RFC 1042).
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];
const DATA_HEADER: usize = 24;
const SNAP_HEADER: usize = 8;
const RTS_LEN: usize = 16;
const CTS_LEN: usize = 10;
const RETRY: u8 = 0x08;

/// First byte of frame control: version 0, type and subtype.
const DATA: u8 = 0x08;
const RTS: u8 = 0xb4;
const CTS: u8 = 0xc4;
const ACK: u8 = 0xd4;

impl<'a> MacFrame<'a> {
    /// Length without frame check sequence.
    pub fn wire_len(&self) -> usize {
        match self {
            MacFrame::Data { packet, .. } => DATA_HEADER + SNAP_HEADER + packet.len(),
            MacFrame::Rts { .. } => RTS_LEN,
            MacFrame::Cts { .. } | MacFrame::Ack { .. } => CTS_LEN,
        }
    }

    /// Appends the frame without frame check sequence.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let begin = |out: &mut Vec<u8>, kind: u8, flags: u8, duration_us: u16, receiver| {
            out.extend([kind, flags]);
            out.extend(duration_us.to_le_bytes());
            out.extend::<MacAddress>(receiver);
        };
        match *self {
            MacFrame::Data {
                retry,
                duration_us,
                receiver,
                transmitter,
                sequence,
                packet,
            } => {
                let flags = if retry { RETRY } else { 0 };
                begin(out, DATA, flags, duration_us, receiver);
                out.extend(transmitter);
                out.extend(BSSID);
                out.extend((sequence << 4).to_le_bytes());
                out.extend(SNAP);
                let ether_type: u16 = match packet.first().map(|byte| byte >> 4) {
                    Some(6) => 0x86dd,
                    _ => 0x0800,
                };
                out.extend(ether_type.to_be_bytes());
                out.extend(packet);
            }
            MacFrame::Rts {
                duration_us,
                receiver,
                transmitter,
            } => {
                begin(out, RTS, 0, duration_us, receiver);
                out.extend(transmitter);
            }
            MacFrame::Cts {
                duration_us,
                receiver,
            } => begin(out, CTS, 0, duration_us, receiver),
            MacFrame::Ack { receiver } => begin(out, ACK, 0, 0, receiver),
        }
    }

    /// Parses a frame without frame check sequence.
    ///
    /// # Errors
    /// If it is truncated or of another type.
    pub fn parse(bytes: &'a [u8]) -> Result<MacFrame<'a>, Malformed> {
        at_least(CTS_LEN, bytes)?;
        let le = |at: usize| u16::from_le_bytes(array(bytes, at));
        let (duration_us, receiver) = (le(2), array(bytes, 4));
        Ok(match bytes[0] {
            DATA => {
                at_least(DATA_HEADER + SNAP_HEADER, bytes)?;
                MacFrame::Data {
                    retry: bytes[1] & RETRY != 0,
                    duration_us,
                    receiver,
                    transmitter: array(bytes, 10),
                    sequence: le(22) >> 4,
                    packet: &bytes[DATA_HEADER + SNAP_HEADER..],
                }
            }
            RTS => {
                at_least(RTS_LEN, bytes)?;
                MacFrame::Rts {
                    duration_us,
                    receiver,
                    transmitter: array(bytes, 10),
                }
            }
            CTS => MacFrame::Cts {
                duration_us,
                receiver,
            },
            ACK => MacFrame::Ack { receiver },
            other => return Err(Malformed::MacFrameType(other)),
        })
    }
}

/// Frame check sequence: CRC-32 (9.2.4.8).
pub fn fcs(frame: &[u8]) -> [u8; 4] {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let mut value = byte as u32;
            let mut bit = 0;
            while bit < 8 {
                value = (value >> 1) ^ (0xedb8_8320 * (value & 1));
                bit += 1;
            }
            table[byte] = value;
            byte += 1;
        }
        table
    };
    let step = |crc: u32, byte: &u8| (crc >> 8) ^ TABLE[((crc ^ u32::from(*byte)) & 0xff) as usize];
    let mut out = [0; 4];
    put(&mut out, 0, (!frame.iter().fold(!0, step)).to_le_bytes());
    out
}

/// Whether the last four bytes are the correct frame check sequence.
pub fn fcs_is_right(bytes: &[u8]) -> bool {
    let Some((frame, check)) = bytes.split_last_chunk() else {
        return false;
    };
    fcs(frame) == *check
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const S: MacAddress = [2, 0, 0, 0, 0, 1];
    const R: MacAddress = [2, 0, 0, 0, 0, 2];

    #[test]
    fn the_check_sequence_is_crc_32() {
        assert_eq!(fcs(b"123456789"), 0xcbf4_3926_u32.to_le_bytes());
        assert!(!fcs_is_right(b"abc"));
    }

    #[test]
    fn frames_match_standard() {
        let mut bytes = Vec::new();
        MacFrame::Data {
            retry: true,
            duration_us: 213,
            receiver: R,
            transmitter: S,
            sequence: 0x123,
            packet: &[0x45, 0xff],
        }
        .emit(&mut bytes);
        let expected = [
            0x08, 0x08, 213, 0, 2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 2, 0x52, 0x57, 0, 0, 0, 0x30,
            0x12, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0, 0x45, 0xff,
        ];
        assert_eq!(bytes, expected);
        bytes.clear();
        MacFrame::Ack { receiver: S }.emit(&mut bytes);
        assert_eq!(bytes, [0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn invalid_segment_is_error() {
        let truncated = MacFrame::parse(&[0xb4, 0, 0, 0, 2, 0, 0, 0, 0, 1, 9]);
        assert_eq!(
            truncated,
            Err(Malformed::Truncated {
                needed: 16,
                got: 11
            })
        );
        assert_eq!(
            MacFrame::parse(&[0x80; 30]),
            Err(Malformed::MacFrameType(0x80))
        );
    }

    proptest! {
        #[test]
        fn emitted_frame_parses_back(
            kind in 0..4,
            retry: bool,
            duration_us in 0_u16..32_768,
            receiver: MacAddress,
            transmitter: MacAddress,
            sequence in 0_u16..4096,
            packet: Vec<u8>,
        ) {
            let packet = &packet[..];
            let frame = match kind {
                0 => MacFrame::Data { retry, duration_us, receiver, transmitter, sequence, packet },
                1 => MacFrame::Rts { duration_us, receiver, transmitter },
                2 => MacFrame::Cts { duration_us, receiver },
                _ => MacFrame::Ack { receiver },
            };
            let mut bytes = Vec::new();
            frame.emit(&mut bytes);
            prop_assert_eq!(bytes.len(), frame.wire_len());
            prop_assert_eq!(MacFrame::parse(&bytes), Ok(frame));
            let check = fcs(&bytes);
            bytes.extend(check);
            prop_assert!(fcs_is_right(&bytes));
            bytes[0] ^= 1;
            prop_assert!(!fcs_is_right(&bytes));
        }

        #[test]
        fn nothing_that_comes_makes_it_panic(bytes: Vec<u8>) {
            let _ = MacFrame::parse(&bytes);
            let _ = fcs_is_right(&bytes);
        }
    }
}
