//! TCP options: parsing one by one, and emitting with padding.

use crate::error::{Malformed, OptionsTooLong};
use crate::field::{put, u16_at, u32_at};
use crate::mptcp::MptcpOption;

/// Largest length of a header's options: the data offset has four bits, in words of four bytes.
pub const MAX_OPTIONS_LEN: usize = 40;

const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MULTIPATH: u8 = 30;
/// Kind of experimental options (RFC 4727, section 2.3).
const EXPERIMENT: u8 = 253;
/// Experiment identifier of TCP-DOOR (RFC 6994, section 3; not registered with IANA).
const TCP_DOOR: [u8; 2] = *b"RW";
/// Data arrived out of order; other bits are reserved.
const OUT_OF_ORDER: u16 = 1;

/// A TCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Largest payload that the sender accepts (RFC 9293, section 3.7.1).
    MaximumSegmentSize(u16),
    /// Window shift of the sender (RFC 7323, section 2). The receiver clamps it to 14.
    WindowScale(u8),
    /// The sender supports [`Sack`](TcpOption::Sack) (RFC 2018, section 2).
    SackPermitted,
    /// Selective acknowledgement (RFC 2018, section 3). The first block may be a D-SACK (RFC 2883).
    Sack(SackBlocks),
    /// Timestamps (RFC 7323, section 3).
    Timestamps {
        /// TSval: the sender's clock.
        value: u32,
        /// TSecr: the last clock received from the peer.
        echo: u32,
    },
    /// MPTCP (RFC 8684).
    Multipath(MptcpOption),
    /// The receiver saw data out of order (OOO of TCP-DOOR, Wang and Zhang 2002; RFC 6994).
    OutOfOrder,
    /// Transmission number of TCP-DOOR, with or without [`OutOfOrder`](TcpOption::OutOfOrder).
    Transmission {
        /// Number of the data segment (TPSN), or of the duplicate acknowledgement (ADSN).
        number: u16,
        /// Data arrived out of order.
        out_of_order: bool,
    },
    /// Any other option, or an unknown MPTCP subtype; written unchanged.
    Unknown {
        /// Option kind.
        kind: u8,
        /// Bytes after kind and length.
        data: &'a [u8],
    },
}

impl<'a> TcpOption<'a> {
    /// Length without padding, in bytes.
    #[inline]
    pub fn wire_len(&self) -> usize {
        match self {
            TcpOption::MaximumSegmentSize(_) => 4,
            TcpOption::WindowScale(_) => 3,
            TcpOption::SackPermitted => 2,
            TcpOption::Sack(blocks) => 2 + 8 * blocks.as_slice().len(),
            TcpOption::Timestamps { .. } => 10,
            TcpOption::Multipath(option) => option.wire_len(),
            TcpOption::OutOfOrder => 4,
            TcpOption::Transmission { .. } => 8,
            TcpOption::Unknown { data, .. } => 2 + data.len(),
        }
    }

    /// Parses a whole option of at least two bytes, kind and length included.
    fn parse(bytes: &'a [u8]) -> Result<TcpOption<'a>, Malformed> {
        let kind = bytes[0];
        let option = match (kind, bytes.len()) {
            (MAXIMUM_SEGMENT_SIZE, 4) => TcpOption::MaximumSegmentSize(u16_at(bytes, 2)),
            (WINDOW_SCALE, 3) => TcpOption::WindowScale(bytes[2]),
            (SACK_PERMITTED, 2) => TcpOption::SackPermitted,
            (SACK, 10 | 18 | 26 | 34) => TcpOption::Sack(SackBlocks::parse(&bytes[2..])),
            (TIMESTAMPS, 10) => TcpOption::Timestamps {
                value: u32_at(bytes, 2),
                echo: u32_at(bytes, 6),
            },
            (MULTIPATH, 3..) if !MptcpOption::is_known_subtype(bytes[2] >> 4) => unknown(bytes),
            (MULTIPATH, 3..) => match MptcpOption::parse(bytes) {
                Some(option) => TcpOption::Multipath(option),
                None => return Err(impossible_length(bytes)),
            },
            (
                MAXIMUM_SEGMENT_SIZE | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS
                | MULTIPATH,
                _,
            ) => return Err(impossible_length(bytes)),
            (EXPERIMENT, 4) if bytes[2..] == TCP_DOOR => TcpOption::OutOfOrder,
            (EXPERIMENT, 8) if bytes[2..4] == TCP_DOOR => TcpOption::Transmission {
                number: u16_at(bytes, 4),
                out_of_order: u16_at(bytes, 6) & OUT_OF_ORDER != 0,
            },
            _ => unknown(bytes),
        };
        Ok(option)
    }

    fn emit(&self, out: &mut [u8]) {
        let len = out.len() as u8;
        match self {
            TcpOption::MaximumSegmentSize(size) => {
                let at = put(out, 0, [MAXIMUM_SEGMENT_SIZE, len]);
                put(out, at, size.to_be_bytes());
            }
            TcpOption::WindowScale(shift) => {
                put(out, 0, [WINDOW_SCALE, len, *shift]);
            }
            TcpOption::SackPermitted => {
                put(out, 0, [SACK_PERMITTED, len]);
            }
            TcpOption::Sack(blocks) => {
                let mut at = put(out, 0, [SACK, len]);
                for (start, end) in blocks.as_slice() {
                    at = put(out, at, start.to_be_bytes());
                    at = put(out, at, end.to_be_bytes());
                }
            }
            TcpOption::Timestamps { value, echo } => {
                let at = put(out, 0, [TIMESTAMPS, len]);
                let at = put(out, at, value.to_be_bytes());
                put(out, at, echo.to_be_bytes());
            }
            TcpOption::Multipath(option) => {
                put(out, 0, [MULTIPATH, len]);
                option.emit(out);
            }
            TcpOption::OutOfOrder => {
                let at = put(out, 0, [EXPERIMENT, len]);
                put(out, at, TCP_DOOR);
            }
            TcpOption::Transmission {
                number,
                out_of_order,
            } => {
                let at = put(out, 0, [EXPERIMENT, len]);
                let at = put(out, at, TCP_DOOR);
                let at = put(out, at, number.to_be_bytes());
                let flags = if *out_of_order { OUT_OF_ORDER } else { 0 };
                put(out, at, flags.to_be_bytes());
            }
            TcpOption::Unknown { kind, data } => {
                let at = put(out, 0, [*kind, len]);
                out[at..].copy_from_slice(data);
            }
        }
    }
}

fn unknown(bytes: &[u8]) -> TcpOption<'_> {
    TcpOption::Unknown {
        kind: bytes[0],
        data: &bytes[2..],
    }
}

fn impossible_length(bytes: &[u8]) -> Malformed {
    Malformed::OptionLength {
        kind: bytes[0],
        len: bytes[1],
    }
}

/// One to four SACK blocks: the first sequence number of each, and the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlocks {
    len: u8,
    blocks: [(u32, u32); 4],
}

impl SackBlocks {
    /// `None` for no blocks, or more than four, which exceed any header.
    pub fn new(blocks: &[(u32, u32)]) -> Option<SackBlocks> {
        let mut all = [(0, 0); 4];
        all.get_mut(..blocks.len())?.copy_from_slice(blocks);
        (!blocks.is_empty()).then_some(SackBlocks {
            len: blocks.len() as u8,
            blocks: all,
        })
    }

    /// Blocks in the option's order.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    fn parse(bytes: &[u8]) -> SackBlocks {
        let mut blocks = [(0, 0); 4];
        let (words, _) = bytes.as_chunks::<8>();
        for (block, word) in blocks.iter_mut().zip(words) {
            *block = (u32_at(word, 0), u32_at(word, 4));
        }
        SackBlocks {
            len: words.len() as u8,
            blocks,
        }
    }
}

/// The options of a header, without padding.
///
/// An invalid length for the kind is an error, and parsing continues. A length below two or past
/// the end is an error and ends the options.
#[derive(Clone, Copy, Debug)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> TcpOptions<'a> {
    /// Parses the bytes between a TCP header and its payload.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> TcpOptions<'a> {
        TcpOptions { rest: bytes }
    }

    /// Unparsed bytes: they give the offset of the next option or its padding.
    #[inline]
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

impl<'a> Iterator for TcpOptions<'a> {
    type Item = Result<TcpOption<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        while let [NO_OPERATION, rest @ ..] = self.rest {
            self.rest = rest;
        }
        let all = core::mem::take(&mut self.rest);
        match *all {
            [] | [END_OF_LIST, ..] => None,
            [kind, len @ (0 | 1), ..] => Some(Err(Malformed::OptionLength { kind, len })),
            [_, len, ..] if usize::from(len) <= all.len() => {
                let (option, rest) = all.split_at(usize::from(len));
                self.rest = rest;
                Some(TcpOption::parse(option))
            }
            [kind, ..] => Some(Err(Malformed::OptionOverrun { kind })),
        }
    }
}

impl core::iter::FusedIterator for TcpOptions<'_> {}

/// Length that [`emit_options`] writes, padding included; a multiple of four.
pub fn options_len(options: &[TcpOption<'_>]) -> usize {
    let mut at = 0;
    for (index, option) in options.iter().enumerate() {
        let [before, after] = padding(at, option, options.get(index + 1));
        at += before + option.wire_len() + after;
    }
    at
}

/// Writes options to `out`; returns their length with padding.
///
/// NOPs precede an option so that it ends on a multiple of four, with its numbers aligned as far as
/// possible (RFC 7323, appendix A). NOPs follow an MPTCP option, as in Linux. SACK-permitted before
/// timestamps has none: their 2 and 10 bytes make up a multiple of four.
///
/// # Panics
/// If `out` is shorter than [`options_len`].
pub fn emit_options(options: &[TcpOption<'_>], out: &mut [u8]) -> Result<usize, OptionsTooLong> {
    let len = options_len(options);
    if len > MAX_OPTIONS_LEN {
        return Err(OptionsTooLong(len));
    }
    let mut at = 0;
    for (index, option) in options.iter().enumerate() {
        let [before, after] = padding(at, option, options.get(index + 1));
        let start = at + before;
        let end = start + option.wire_len();
        out[at..start].fill(NO_OPERATION);
        option.emit(&mut out[start..end]);
        at = end + after;
        out[end..at].fill(NO_OPERATION);
    }
    Ok(at)
}

/// Number of NOPs before and after `option` at offset `at`.
#[inline]
fn padding(at: usize, option: &TcpOption<'_>, next: Option<&TcpOption<'_>>) -> [usize; 2] {
    let missing = (at + option.wire_len()).wrapping_neg() % 4;
    match (option, next) {
        (TcpOption::SackPermitted, Some(TcpOption::Timestamps { .. })) => [0, 0],
        (TcpOption::Multipath(_), _) => [0, missing],
        _ => [missing, 0],
    }
}
