//! Frames of an association.

use super::malformed::{MAX_PAYLOAD, MalformedFrame};
use crate::field::{put, u16_at, u32_at, u64_at};

/// Bound of offsets, final sizes and window limits: their sums cannot overflow.
pub const MAX_OFFSET: u64 = 1 << 62;

/// Header length of a [`Frame::Data`].
pub const DATA_HEADER_LEN: usize = 16;

/// Length of the longest header.
pub const MAX_HEADER_LEN: usize = 21;

const DATA: u8 = 1;
const ACK: u8 = 2;
const WINDOW: u8 = 3;
const RESET: u8 = 4;
const STOP: u8 = 5;
const PING: u8 = 6;
const PONG: u8 = 7;
const CLOSE: u8 = 8;
const TERMS: u8 = 9;

/// Unlimited, in a [`Frame::Terms`].
const NO_BOUND: u64 = u64::MAX;

/// Flag of [`Frame::Data`]: the stream ends with this payload.
const FIN: u8 = 1;

/// A frame. `P` is the payload: its bytes, or only its length after parsing a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<P> {
    /// Part of a stream.
    ///
    /// The header of elahi-2011 has an association and a sequence. Here a carrier belongs to one
    /// association, and the sequence is a stream with an offset: streams do not block each other,
    /// and any part can be retransmitted on any carrier.
    Data {
        /// Stream number, never zero.
        stream: u32,
        /// Offset of the payload's first byte.
        offset: u64,
        /// The stream ends with this payload, which may be empty.
        fin: bool,
        /// At most [`MAX_PAYLOAD`] bytes.
        payload: P,
    },
    /// Acknowledges data, window, reset and stop frames on this carrier.
    Ack {
        /// Cumulative count, since a carrier delivers in order.
        count: u64,
    },
    /// Receive window of a stream: total number of distinct bytes that may be sent.
    Window {
        /// Stream number, never zero.
        stream: u32,
        /// Never decreases.
        limit: u64,
    },
    /// The sender resets its direction of a stream.
    Reset {
        /// Stream number, never zero.
        stream: u32,
        /// The application's reason.
        code: u32,
        /// Number of bytes sent.
        final_size: u64,
    },
    /// The receiver stops reading a stream; the sender replies with a reset.
    Stop {
        /// Stream number, never zero.
        stream: u32,
        /// The application's reason.
        code: u32,
    },
    /// Requests an immediate [`Frame::Pong`] on the same carrier.
    Ping {
        /// Copied to the reply.
        token: u64,
    },
    /// Reply to a ping.
    Pong {
        /// Token of the ping.
        token: u64,
    },
    /// The association ends.
    Close {
        /// Reason.
        code: u32,
    },
    /// New terms of use of this carrier; sent only by the end that dialled.
    Terms {
        /// Price per megabyte, in thousandths of the user's unit.
        cost: u32,
        /// Remaining quota in bytes, both directions together; `None`: unlimited.
        quota: Option<u64>,
        /// Rate limit per direction in bit/s; `None`: unlimited.
        rate: Option<u64>,
    },
}

impl Frame<usize> {
    /// Parses the header at the front of `bytes`. Returns the frame with the length of its payload,
    /// and the header's length. `None` if the header is incomplete.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Frame<usize>, usize)>, MalformedFrame> {
        let Some(&kind) = bytes.first() else {
            return Ok(None);
        };
        let header_len = header_len(kind).ok_or(MalformedFrame::Type(kind))?;
        if bytes.len() < header_len {
            return Ok(None);
        }
        let frame = match kind {
            DATA => {
                let payload = usize::from(u16_at(bytes, 2));
                let offset = offset_at(bytes, 8)?;
                if payload > MAX_PAYLOAD {
                    return Err(MalformedFrame::Payload(payload));
                }
                if offset + payload as u64 >= MAX_OFFSET {
                    return Err(MalformedFrame::Offset(offset));
                }
                Frame::Data {
                    stream: stream_at(bytes, 4)?,
                    offset,
                    fin: bytes[1] & FIN != 0,
                    payload,
                }
            }
            ACK => Frame::Ack {
                count: u64_at(bytes, 1),
            },
            WINDOW => Frame::Window {
                stream: stream_at(bytes, 1)?,
                limit: offset_at(bytes, 5)?,
            },
            RESET => Frame::Reset {
                stream: stream_at(bytes, 1)?,
                code: u32_at(bytes, 5),
                final_size: offset_at(bytes, 9)?,
            },
            STOP => Frame::Stop {
                stream: stream_at(bytes, 1)?,
                code: u32_at(bytes, 5),
            },
            PING => Frame::Ping {
                token: u64_at(bytes, 1),
            },
            PONG => Frame::Pong {
                token: u64_at(bytes, 1),
            },
            CLOSE => Frame::Close {
                code: u32_at(bytes, 1),
            },
            _ => Frame::Terms {
                cost: u32_at(bytes, 1),
                quota: bounded(u64_at(bytes, 5)),
                rate: match bounded(u64_at(bytes, 13)) {
                    Some(0) => return Err(MalformedFrame::Rate),
                    rate => rate,
                },
            },
        };
        Ok(Some((frame, header_len)))
    }
}

impl<P> Frame<P> {
    /// The same frame with another payload, such as the bytes in place of their length.
    pub fn map<Q>(self, other: impl FnOnce(P) -> Q) -> Frame<Q> {
        match self {
            Frame::Data {
                stream,
                offset,
                fin,
                payload,
            } => Frame::Data {
                stream,
                offset,
                fin,
                payload: other(payload),
            },
            Frame::Ack { count } => Frame::Ack { count },
            Frame::Window { stream, limit } => Frame::Window { stream, limit },
            Frame::Reset {
                stream,
                code,
                final_size,
            } => Frame::Reset {
                stream,
                code,
                final_size,
            },
            Frame::Stop { stream, code } => Frame::Stop { stream, code },
            Frame::Ping { token } => Frame::Ping { token },
            Frame::Pong { token } => Frame::Pong { token },
            Frame::Close { code } => Frame::Close { code },
            Frame::Terms { cost, quota, rate } => Frame::Terms { cost, quota, rate },
        }
    }

    /// Length of the header.
    #[inline]
    #[must_use]
    pub fn header_len(&self) -> usize {
        match self {
            Frame::Data { .. } => DATA_HEADER_LEN,
            Frame::Ack { .. } | Frame::Stop { .. } | Frame::Ping { .. } | Frame::Pong { .. } => 9,
            Frame::Window { .. } => 13,
            Frame::Reset { .. } => 17,
            Frame::Close { .. } => 5,
            Frame::Terms { .. } => 21,
        }
    }

    /// Whether acknowledgements count it.
    #[inline]
    #[must_use]
    pub fn is_ack_eliciting(&self) -> bool {
        matches!(
            self,
            Frame::Data { .. } | Frame::Window { .. } | Frame::Reset { .. } | Frame::Stop { .. }
        )
    }

    /// Writes the header of a frame with `payload_len` bytes of payload to `out`; returns its
    /// length.
    ///
    /// # Panics
    /// If `out` is shorter than the header, or the payload exceeds [`MAX_PAYLOAD`].
    pub fn emit_header(&self, payload_len: usize, out: &mut [u8]) -> usize {
        match self {
            Frame::Data {
                stream,
                offset,
                fin,
                ..
            } => {
                assert!(payload_len <= MAX_PAYLOAD, "payload of {payload_len} bytes");
                out[0] = DATA;
                out[1] = if *fin { FIN } else { 0 };
                let at = put(out, 2, (payload_len as u16).to_be_bytes());
                let at = put(out, at, stream.to_be_bytes());
                put(out, at, offset.to_be_bytes())
            }
            Frame::Ack { count } => number(out, ACK, *count),
            Frame::Window { stream, limit } => {
                out[0] = WINDOW;
                let at = put(out, 1, stream.to_be_bytes());
                put(out, at, limit.to_be_bytes())
            }
            Frame::Reset {
                stream,
                code,
                final_size,
            } => {
                out[0] = RESET;
                let at = put(out, 1, stream.to_be_bytes());
                let at = put(out, at, code.to_be_bytes());
                put(out, at, final_size.to_be_bytes())
            }
            Frame::Stop { stream, code } => {
                out[0] = STOP;
                let at = put(out, 1, stream.to_be_bytes());
                put(out, at, code.to_be_bytes())
            }
            Frame::Ping { token } => number(out, PING, *token),
            Frame::Pong { token } => number(out, PONG, *token),
            Frame::Close { code } => {
                out[0] = CLOSE;
                put(out, 1, code.to_be_bytes())
            }
            Frame::Terms { cost, quota, rate } => {
                out[0] = TERMS;
                let at = put(out, 1, cost.to_be_bytes());
                let at = put(out, at, quota.unwrap_or(NO_BOUND).to_be_bytes());
                put(out, at, rate.unwrap_or(NO_BOUND).to_be_bytes())
            }
        }
    }
}

fn number(out: &mut [u8], kind: u8, value: u64) -> usize {
    out[0] = kind;
    put(out, 1, value.to_be_bytes())
}

fn header_len(kind: u8) -> Option<usize> {
    Some(match kind {
        DATA => DATA_HEADER_LEN,
        ACK | STOP | PING | PONG => 9,
        WINDOW => 13,
        RESET => 17,
        CLOSE => 5,
        TERMS => 21,
        _ => return None,
    })
}

fn bounded(number: u64) -> Option<u64> {
    Some(number).filter(|number| *number != NO_BOUND)
}

fn stream_at(bytes: &[u8], at: usize) -> Result<u32, MalformedFrame> {
    match u32_at(bytes, at) {
        0 => Err(MalformedFrame::Stream),
        stream => Ok(stream),
    }
}

fn offset_at(bytes: &[u8], at: usize) -> Result<u64, MalformedFrame> {
    match u64_at(bytes, at) {
        offset if offset >= MAX_OFFSET => Err(MalformedFrame::Offset(offset)),
        offset => Ok(offset),
    }
}
