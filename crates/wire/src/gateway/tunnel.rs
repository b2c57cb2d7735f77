//! Protocol between the two ends of a tunnel, in UDP datagrams.
//!
//! A datagram of a session is a [`TunnelHeader`], followed, encrypted, by the sender's clock and frames. The
//! header's sequence counts the datagrams on a link of the session; link and sequence form the nonce of the
//! encryption, and reveal losses. A [`TunnelFrame::Packet`] contains an inner packet with its lane and its
//! sequence in that lane: each lane is put in order again separately.

use ropewalk_quantities::Time;

use super::TAG_LEN;
use crate::error::Malformed;
use crate::field::{at_least, u16_at, u32_at, u64_at};

mod header;
mod link_terms;

pub use header::TunnelHeader;
pub use link_terms::LinkTerms;

const PADDING: u8 = 0;
const PACKET: u8 = 1;
const FEEDBACK: u8 = 2;
const PING: u8 = 3;
const PONG: u8 = 4;
const CLOSE: u8 = 5;
const TERMS: u8 = 6;
const TERMS_SEEN: u8 = 7;
/// Flag in the number of gaps of a feedback frame: links that are left out follow; and their length.
const LEFT_OUT: u8 = 0x80;
const LEFT_OUT_LEN: usize = 8;
/// Flags of a packet's frame, in the byte of its type.
const TO_THE_END: u8 = 0x80;
const PARTIAL_CHECKSUM: u8 = 0x40;
const IN_STEP: u8 = 0x20;
const AT_ONCE: u8 = 0x10;
const TYPE: u8 = 0x0f;

/// Lane, sequence and delivery of an inner packet, for putting it in order at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequencing {
    /// Its lane.
    pub lane: u8,
    /// Its sequence in the lane, of which the low 32 bits are transmitted.
    pub sequence: u32,
    /// When it is delivered.
    pub delivery: Delivery,
}

/// What the receiver waits for before it delivers a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Nothing: earlier packets of its lane went the same way, and are not sent again if lost.
    AtOnce,
    /// All earlier packets of its lane.
    InOrder,
    /// All earlier packets of its lane, and the time at which it would have arrived by the slowest link.
    InStep,
}

/// Feedback of a receiver about a link: progress, times, and gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// The link on which the data were sent.
    pub link: u8,
    /// The highest sequence that arrived.
    pub highest: u64,
    /// Distinct datagrams received.
    pub received: u64,
    /// Their bytes, IP headers included.
    pub bytes: u64,
    /// The receiver's clock, in microseconds modulo 2^32, when the highest arrived.
    pub clock: u32,
    /// Time since then.
    pub delay: Time,
    /// Everything below has arrived, or was reported missing often enough.
    pub settled: u64,
    /// Links on which the feedback's sender sends no packets of flows, as a bit mask: nothing is kept in step
    /// with them.
    pub left_out: u64,
    /// Gaps below the highest that are to be reported now.
    pub missing: Missing,
}

/// Consecutive datagrams that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Sequence of the first datagram.
    pub first: u64,
    /// Number of datagrams.
    pub count: u16,
}

/// The gaps of a feedback frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    gaps: [Gap; Missing::MOST],
    len: u8,
}

impl Missing {
    /// Most gaps in a frame.
    pub const MOST: usize = 8;
    /// Length of a gap in a frame.
    const GAP_LEN: usize = 6;

    /// Adds a gap; false if there is no room for it.
    pub fn push(&mut self, gap: Gap) -> bool {
        let slot = self.gaps.get_mut(usize::from(self.len));
        let Some(slot) = slot else { return false };
        *slot = gap;
        self.len += 1;
        true
    }

    /// The gaps.
    #[must_use]
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps[..usize::from(self.len)]
    }
}

/// One frame of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TunnelFrame<'a> {
    /// An inner packet.
    Packet {
        /// Its lane, sequence and delivery.
        sequencing: Sequencing,
        /// Its TCP or UDP checksum covers the pseudo-header only (VIRTIO_NET_HDR_F_NEEDS_CSUM of a virtio-net
        /// header), since the datagram is authenticated as a whole.
        partial_checksum: bool,
        /// The packet from its IP header on.
        bytes: &'a [u8],
    },
    /// What was received on a link.
    Feedback(Feedback),
    /// Asks for a [`TunnelFrame::Pong`] with this token on the same link.
    Ping(u32),
    /// The answer.
    Pong(u32),
    /// The session ends.
    Close,
    /// Terms of a link for both ends; repeated until they are acknowledged.
    Terms {
        /// Which link.
        link: u8,
        /// Increases with each change of the link's terms.
        version: u32,
        /// The terms.
        terms: LinkTerms,
    },
    /// Acknowledges the terms of this version and earlier ones.
    TermsSeen {
        /// Of which link.
        link: u8,
        /// Which.
        version: u32,
    },
}

impl TunnelFrame<'_> {
    /// Length of the sender's clock before the first frame: microseconds modulo 2^32.
    pub const CLOCK_LEN: usize = 4;
    /// Overhead of a packet's frame at the end of its datagram.
    pub const LAST_PACKET_OVERHEAD: usize = 6;
    /// Overhead of a packet's frame that others follow.
    pub const PACKET_OVERHEAD: usize = 8;
    /// Bytes that a datagram with one whole packet has besides, after the headers of IP and UDP.
    pub const ENVELOPE_LEN: usize =
        TunnelHeader::LEN + Self::CLOCK_LEN + Self::LAST_PACKET_OVERHEAD + TAG_LEN;
    /// Length of a ping or pong.
    pub const PING_LEN: usize = 5;
    /// Length of a terms frame.
    pub const TERMS_LEN: usize = 6 + LinkTerms::LEN;
    /// Length of its acknowledgement.
    pub const TERMS_SEEN_LEN: usize = 6;
    /// Length of a feedback frame without gaps or links left out.
    pub const FEEDBACK_LEN: usize = 39;

    /// Length of a feedback frame.
    #[must_use]
    pub fn feedback_len(feedback: &Feedback) -> usize {
        let left_out = if feedback.left_out == 0 {
            0
        } else {
            LEFT_OUT_LEN
        };
        TunnelFrame::FEEDBACK_LEN + left_out + Missing::GAP_LEN * feedback.missing.gaps().len()
    }

    /// Appends a packet's frame up to where the packet's `len` bytes follow.
    pub fn emit_packet_head(
        sequencing: Sequencing,
        partial_checksum: bool,
        len: Option<u16>,
        out: &mut Vec<u8>,
    ) {
        let mut first = PACKET;
        first |= if len.is_none() { TO_THE_END } else { 0 };
        first |= if partial_checksum {
            PARTIAL_CHECKSUM
        } else {
            0
        };
        first |= match sequencing.delivery {
            Delivery::AtOnce => AT_ONCE,
            Delivery::InOrder => 0,
            Delivery::InStep => IN_STEP,
        };
        out.extend_from_slice(&[first, sequencing.lane]);
        out.extend_from_slice(&sequencing.sequence.to_be_bytes());
        if let Some(len) = len {
            out.extend_from_slice(&len.to_be_bytes());
        }
    }

    /// Appends the frame; that of a packet with its length, so that others may follow.
    ///
    /// # Panics
    /// If a packet is longer than 65 535 bytes.
    pub fn emit(&self, out: &mut Vec<u8>) {
        match *self {
            TunnelFrame::Packet {
                sequencing,
                partial_checksum,
                bytes,
            } => {
                let len = u16::try_from(bytes.len()).expect("a packet of 16-bit size");
                TunnelFrame::emit_packet_head(sequencing, partial_checksum, Some(len), out);
                out.extend_from_slice(bytes);
            }
            TunnelFrame::Feedback(feedback) => {
                let delay = feedback.delay.as_nanos() / 1000;
                out.extend_from_slice(&[FEEDBACK, feedback.link]);
                out.extend_from_slice(&feedback.highest.to_be_bytes());
                out.extend_from_slice(&feedback.received.to_be_bytes());
                out.extend_from_slice(&feedback.bytes.to_be_bytes());
                out.extend_from_slice(&feedback.clock.to_be_bytes());
                let delay = u32::try_from(delay).unwrap_or(u32::MAX);
                out.extend_from_slice(&delay.to_be_bytes());
                let open = (feedback.highest + 1).saturating_sub(feedback.settled);
                let open = u32::try_from(open).unwrap_or(u32::MAX);
                out.extend_from_slice(&open.to_be_bytes());
                if feedback.left_out == 0 {
                    out.push(feedback.missing.len);
                } else {
                    out.push(feedback.missing.len | LEFT_OUT);
                    out.extend_from_slice(&feedback.left_out.to_be_bytes());
                }
                for gap in feedback.missing.gaps() {
                    let behind = feedback.highest.saturating_sub(gap.first);
                    let behind = u32::try_from(behind).unwrap_or(u32::MAX);
                    out.extend_from_slice(&behind.to_be_bytes());
                    out.extend_from_slice(&gap.count.to_be_bytes());
                }
            }
            TunnelFrame::Ping(token) => {
                out.push(PING);
                out.extend_from_slice(&token.to_be_bytes());
            }
            TunnelFrame::Pong(token) => {
                out.push(PONG);
                out.extend_from_slice(&token.to_be_bytes());
            }
            TunnelFrame::Close => out.push(CLOSE),
            TunnelFrame::Terms {
                link,
                version,
                terms,
            } => {
                out.extend_from_slice(&[TERMS, link]);
                out.extend_from_slice(&version.to_be_bytes());
                out.extend_from_slice(&terms.to_bytes());
            }
            TunnelFrame::TermsSeen { link, version } => {
                out.extend_from_slice(&[TERMS_SEEN, link]);
                out.extend_from_slice(&version.to_be_bytes());
            }
        }
    }

    /// Parses the frames of a datagram, after the clock; stops after the first malformed one. Zeros at the
    /// end are padding.
    pub fn parse_all(bytes: &[u8]) -> impl Iterator<Item = Result<TunnelFrame<'_>, Malformed>> {
        let mut rest = bytes;
        std::iter::from_fn(move || {
            let first = *rest.first()?;
            if first == PADDING {
                return None;
            }
            match parse(first, rest) {
                Ok((frame, len)) => {
                    rest = &rest[len..];
                    Some(Ok(frame))
                }
                Err(error) => {
                    rest = &[];
                    Some(Err(error))
                }
            }
        })
    }
}

fn parse(first: u8, bytes: &[u8]) -> Result<(TunnelFrame<'_>, usize), Malformed> {
    let need = |needed| at_least(needed, bytes);
    match first & TYPE {
        PACKET => {
            let last = first & TO_THE_END != 0;
            let (start, end) = if last {
                need(TunnelFrame::LAST_PACKET_OVERHEAD)?;
                (TunnelFrame::LAST_PACKET_OVERHEAD, bytes.len())
            } else {
                let start = TunnelFrame::PACKET_OVERHEAD;
                need(start)?;
                (start, start + usize::from(u16_at(bytes, 6)))
            };
            need(end)?;
            let frame = TunnelFrame::Packet {
                sequencing: Sequencing {
                    lane: bytes[1],
                    sequence: u32_at(bytes, 2),
                    delivery: match (first & AT_ONCE, first & IN_STEP) {
                        (0, 0) => Delivery::InOrder,
                        (0, _) => Delivery::InStep,
                        _ => Delivery::AtOnce,
                    },
                },
                partial_checksum: first & PARTIAL_CHECKSUM != 0,
                bytes: &bytes[start..end],
            };
            Ok((frame, end))
        }
        FEEDBACK => {
            need(TunnelFrame::FEEDBACK_LEN)?;
            let mut feedback = Feedback {
                link: bytes[1],
                highest: u64_at(bytes, 2),
                received: u64_at(bytes, 10),
                bytes: u64_at(bytes, 18),
                clock: u32_at(bytes, 26),
                delay: Time::from_micros(u64::from(u32_at(bytes, 30))),
                settled: 0,
                left_out: 0,
                missing: Missing::default(),
            };
            let open = u64::from(u32_at(bytes, 34));
            feedback.settled = feedback.highest.saturating_add(1).saturating_sub(open);
            let count = bytes[TunnelFrame::FEEDBACK_LEN - 1];
            let gaps = usize::from(count & !LEFT_OUT);
            if gaps > Missing::MOST {
                return Err(Malformed::FrameType(first));
            }
            let mut start = TunnelFrame::FEEDBACK_LEN;
            if count & LEFT_OUT != 0 {
                need(start + LEFT_OUT_LEN)?;
                feedback.left_out = u64_at(bytes, start);
                start += LEFT_OUT_LEN;
            }
            let len = start + Missing::GAP_LEN * gaps;
            need(len)?;
            for at in (start..len).step_by(Missing::GAP_LEN) {
                let behind = u64::from(u32_at(bytes, at));
                feedback.missing.push(Gap {
                    first: feedback.highest.saturating_sub(behind),
                    count: u16_at(bytes, at + 4),
                });
            }
            Ok((TunnelFrame::Feedback(feedback), len))
        }
        PING => {
            need(TunnelFrame::PING_LEN)?;
            let ping = TunnelFrame::Ping(u32_at(bytes, 1));
            Ok((ping, TunnelFrame::PING_LEN))
        }
        PONG => {
            need(TunnelFrame::PING_LEN)?;
            let pong = TunnelFrame::Pong(u32_at(bytes, 1));
            Ok((pong, TunnelFrame::PING_LEN))
        }
        CLOSE => Ok((TunnelFrame::Close, 1)),
        TERMS => {
            need(TunnelFrame::TERMS_LEN)?;
            let frame = TunnelFrame::Terms {
                link: bytes[1],
                version: u32_at(bytes, 2),
                terms: LinkTerms::parse(&bytes[6..]),
            };
            Ok((frame, TunnelFrame::TERMS_LEN))
        }
        TERMS_SEEN => {
            need(TunnelFrame::TERMS_SEEN_LEN)?;
            let frame = TunnelFrame::TermsSeen {
                link: bytes[1],
                version: u32_at(bytes, 2),
            };
            Ok((frame, TunnelFrame::TERMS_SEEN_LEN))
        }
        _ => Err(Malformed::FrameType(first)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ropewalk_quantities::Rate;

    use super::*;

    #[test]
    fn frames_follow_each_other() {
        let sequencing = Sequencing {
            lane: 7,
            sequence: 0x0a0b_0c0d,
            delivery: Delivery::InStep,
        };
        let mut missing = Missing::default();
        assert!(missing.push(Gap { first: 1, count: 1 }));
        let feedback = Feedback {
            link: 1,
            highest: 2,
            received: 3,
            bytes: 4,
            clock: 5,
            delay: Time::from_micros(6),
            settled: 1,
            left_out: 2,
            missing,
        };
        let mut bytes = Vec::new();
        let packet = TunnelFrame::Packet {
            sequencing,
            partial_checksum: true,
            bytes: b"ab",
        };
        packet.emit(&mut bytes);
        TunnelFrame::Ping(9).emit(&mut bytes);
        TunnelFrame::Pong(10).emit(&mut bytes);
        TunnelFrame::Feedback(feedback).emit(&mut bytes);
        TunnelFrame::Close.emit(&mut bytes);
        let packets = [0x61, 7, 10, 11, 12, 13, 0, 2, b'a', b'b'];
        let pings = [3, 0, 0, 0, 9, 4, 0, 0, 0, 10];
        #[rustfmt::skip]
        let told = [
            2, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3,
            0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6,
            0, 0, 0, 2, 0x81, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 5,
        ];
        assert_eq!(bytes, [&packets[..], &pings, &told].concat());
        let frames: Vec<_> = TunnelFrame::parse_all(&bytes).collect();
        assert_eq!(
            frames,
            [
                Ok(packet),
                Ok(TunnelFrame::Ping(9)),
                Ok(TunnelFrame::Pong(10)),
                Ok(TunnelFrame::Feedback(feedback)),
                Ok(TunnelFrame::Close),
            ]
        );
    }

    #[test]
    fn terms_are_told_and_seen() {
        let terms = TunnelFrame::Terms {
            link: 3,
            version: 0x0102_0304,
            terms: LinkTerms {
                standby: true,
                rate: Some(Rate::from_bps(512_000)),
                cost: 2.5,
                priority: 7,
            },
        };
        let seen = TunnelFrame::TermsSeen {
            link: 3,
            version: 0x0102_0304,
        };
        let usual = TunnelFrame::Terms {
            link: 0,
            version: 1,
            terms: LinkTerms::default(),
        };
        let mut bytes = Vec::new();
        for frame in [terms, seen, usual] {
            frame.emit(&mut bytes);
        }
        #[rustfmt::skip]
        let expected = [
            6, 3, 1, 2, 3, 4, 1, 7, 0, 0, 0, 0, 0, 0x07, 0xd0, 0, 0, 0, 0x09, 0xc4,
            7, 3, 1, 2, 3, 4,
            6, 0, 0, 0, 0, 1, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0, 0, 0x03, 0xe8,
        ];
        assert_eq!(bytes, expected);
        let frames: Vec<_> = TunnelFrame::parse_all(&bytes).collect();
        assert_eq!(frames, [Ok(terms), Ok(seen), Ok(usual)]);
    }

    #[test]
    fn the_last_packet_needs_no_length() {
        let sequencing = Sequencing {
            lane: 1,
            sequence: 2,
            delivery: Delivery::AtOnce,
        };
        let mut bytes = Vec::new();
        TunnelFrame::emit_packet_head(sequencing, false, None, &mut bytes);
        bytes.extend_from_slice(b"abc");
        assert_eq!(bytes, [0x91, 1, 0, 0, 0, 2, b'a', b'b', b'c']);
        let frame = TunnelFrame::Packet {
            sequencing,
            partial_checksum: false,
            bytes: b"abc",
        };
        let frames: Vec<_> = TunnelFrame::parse_all(&bytes).collect();
        assert_eq!(frames, [Ok(frame)]);
    }

    #[test]
    fn zeros_are_padding_and_anything_else_is_refused() {
        assert_eq!(TunnelFrame::parse_all(&[0; 100]).count(), 0);
        let refused: Vec<_> = TunnelFrame::parse_all(&[5, 14, 5]).collect();
        assert_eq!(
            refused,
            [Ok(TunnelFrame::Close), Err(Malformed::FrameType(14))]
        );
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes: Vec<u8>) {
            let frames = TunnelFrame::parse_all(&bytes).count();
            prop_assert!(frames <= bytes.len());
        }
    }
}
