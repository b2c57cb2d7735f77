//! Protocol of a tunnel, in UDP datagrams.
//!
//! A datagram of a session is a [`TunnelHeader`] and, encrypted, the sender's clock and frames. The
//! header numbers the datagrams of each link: link and sequence form the nonce and reveal losses. A
//! [`TunnelFrame::Packet`] contains an inner packet with its lane and sequence. The receiver
//! reorders each lane separately.

use super::TAG_LEN;
use crate::error::Malformed;
use crate::field::{at_least, u16_at, u32_at};

mod feedback;
mod header;
mod link_terms;

pub use feedback::{Feedback, Gap, Missing};
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
const PATH_MTU: u8 = 8;
const TO_THE_END: u8 = 0x80;
const PARTIAL_CHECKSUM: u8 = 0x40;
const IN_STEP: u8 = 0x20;
const AT_ONCE: u8 = 0x10;
const TYPE: u8 = 0x0f;

/// Lane, sequence and delivery of an inner packet, for reordering at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequencing {
    /// Lane number.
    pub lane: u8,
    /// Sequence in the lane, transmitted as its low 32 bits.
    pub sequence: u32,
    /// Condition of delivery.
    pub delivery: Delivery,
}

/// Condition that the receiver waits for before it delivers a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// None: earlier packets of the lane used the same link and are not retransmitted.
    AtOnce,
    /// All earlier packets of the lane have arrived.
    InOrder,
    /// As [`InOrder`](Delivery::InOrder), and not before the arrival time over the slowest link.
    InStep,
}

/// One frame of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TunnelFrame<'a> {
    /// An inner packet.
    Packet {
        /// Lane, sequence and delivery.
        sequencing: Sequencing,
        /// The TCP or UDP checksum covers only the pseudo-header (VIRTIO_NET_HDR_F_NEEDS_CSUM),
        /// since the datagram is authenticated as a whole.
        partial_checksum: bool,
        /// The packet from its IP header.
        bytes: &'a [u8],
    },
    /// Reception report of a link.
    Feedback(Feedback),
    /// Requests a [`TunnelFrame::Pong`] with this token on the same link.
    Ping(u32),
    /// Reply to a ping.
    Pong(u32),
    /// The session ends.
    Close,
    /// Terms of a link for both ends, repeated until acknowledged.
    Terms {
        /// Link number.
        link: u8,
        /// Increases with each change of the link's terms.
        version: u32,
        /// New terms.
        terms: LinkTerms,
    },
    /// Acknowledges terms up to this version.
    TermsSeen {
        /// Link number.
        link: u8,
        /// Version of the terms.
        version: u32,
    },
    /// The sender's path MTU of a link, for the peer's status.
    PathMtu {
        /// Link number.
        link: u8,
        /// Longest unfragmented datagram; zero if the sender does not use the link.
        bytes: u16,
    },
}

impl TunnelFrame<'_> {
    /// Length of the sender's clock before the first frame: microseconds modulo 2^32.
    pub const CLOCK_LEN: usize = 4;
    /// Overhead of a packet's frame at the end of its datagram.
    pub const LAST_PACKET_OVERHEAD: usize = 6;
    /// Overhead of a packet's frame before other frames.
    pub const PACKET_OVERHEAD: usize = 8;
    /// Overhead of a datagram with one packet, without IP and UDP headers.
    pub const ENVELOPE_LEN: usize =
        TunnelHeader::LEN + Self::CLOCK_LEN + Self::LAST_PACKET_OVERHEAD + TAG_LEN;
    /// Length of a ping or pong frame.
    pub const PING_LEN: usize = 5;
    /// Length of a terms frame.
    pub const TERMS_LEN: usize = 6 + LinkTerms::LEN;
    /// Length of a terms acknowledgement.
    pub const TERMS_SEEN_LEN: usize = 6;
    /// Length of a path MTU frame.
    pub const PATH_MTU_LEN: usize = 4;
    /// Appends a packet's frame up to the packet's `len` bytes.
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

    /// Appends the frame. A packet has its length, so that more frames may follow.
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
                out.push(FEEDBACK);
                feedback.emit(out);
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
            TunnelFrame::PathMtu { link, bytes } => {
                out.extend_from_slice(&[PATH_MTU, link]);
                out.extend_from_slice(&bytes.to_be_bytes());
            }
        }
    }

    /// Parses the frames of a datagram, after the clock, up to the first malformed one. Zeros at
    /// the end are padding.
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
            let (feedback, len) = Feedback::parse(bytes)?;
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
        PATH_MTU => {
            need(TunnelFrame::PATH_MTU_LEN)?;
            let frame = TunnelFrame::PathMtu {
                link: bytes[1],
                bytes: u16_at(bytes, 2),
            };
            Ok((frame, TunnelFrame::PATH_MTU_LEN))
        }
        _ => Err(Malformed::FrameType(first)),
    }
}

#[cfg(test)]
mod tests;
