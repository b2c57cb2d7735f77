//! TCP options: one by one from bytes, and all of a header's to bytes, padded.

use crate::error::{Malformed, OptionsTooLong};
use crate::field::{put, u16_at, u32_at};
use crate::mptcp::MptcpOption;

/// What a TCP header has room for: its length is a number of four bits, in words of four bytes.
pub const MAX_OPTIONS_LEN: usize = 40;

const END_OF_LIST: u8 = 0;
const NO_OPERATION: u8 = 1;
const MAXIMUM_SEGMENT_SIZE: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
const MULTIPATH: u8 = 30;
/// Kind of an option that is an experiment's (RFC 4727, section 2.3).
const EXPERIMENT: u8 = 253;
/// Which one it is: TCP-DOOR's numbers (RFC 6994, section 3; not registered with IANA).
const TCP_DOOR: [u8; 2] = *b"RW";
/// Data was overtaken; all other bits are reserved.
const OUT_OF_ORDER: u16 = 1;

/// A TCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpOption<'a> {
    /// Largest payload that the sender of this takes (RFC 9293, section 3.7.1).
    MaximumSegmentSize(u16),
    /// How far the windows of the sender of this are shifted (RFC 7323,
    /// section 2); above 14 counts as 14, which is the receiver's to do.
    WindowScale(u8),
    /// The sender of this understands [`Sack`](TcpOption::Sack) (RFC 2018, section 2).
    SackPermitted,
    /// Selective acknowledgement (RFC 2018, section 3); its first block may be
    /// a duplicate's (RFC 2883).
    Sack(SackBlocks),
    /// Timestamps (RFC 7323, section 3).
    Timestamps {
        /// The sender's clock (TSval).
        value: u32,
        /// The receiver's, as last seen (TSecr).
        echo: u32,
    },
    /// MPTCP (RFC 8684).
    Multipath(MptcpOption),
    /// Data was overtaken by later data, says the receiver (TCP-DOOR's OOO, Wang and Zhang 2002); an
    /// experiment's option (RFC 6994).
    OutOfOrder,
    /// A transmission number, with or without [`OutOfOrder`](TcpOption::OutOfOrder): the same experiment's.
    Transmission {
        /// Which data segment it is (TPSN), or which acknowledgement of the same data (ADSN).
        number: u16,
        /// Data was overtaken.
        out_of_order: bool,
    },
    /// Any other option, MPTCP's of an unknown subtype included; written as it
    /// stands.
    Unknown {
        /// Its kind.
        kind: u8,
        /// What follows kind and length.
        data: &'a [u8],
    },
}

impl<'a> TcpOption<'a> {
    /// What the option takes without padding, in bytes.
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

    /// Takes a whole option, kind and length included, of at least two bytes.
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
            (MULTIPATH, 3..) if !MptcpOption::knows(bytes[2] >> 4) => unknown(bytes),
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

    /// Writes the option to `out`, which is as long as it is.
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

/// One to four blocks of a SACK option: first sequence number of each, and the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SackBlocks {
    len: u8,
    blocks: [(u32, u32); 4],
}

impl SackBlocks {
    /// These blocks; `None` if there is none, or more than four, which no header has room for.
    pub fn new(blocks: &[(u32, u32)]) -> Option<SackBlocks> {
        let mut all = [(0, 0); 4];
        all.get_mut(..blocks.len())?.copy_from_slice(blocks);
        (!blocks.is_empty()).then_some(SackBlocks {
            len: blocks.len() as u8,
            blocks: all,
        })
    }

    /// The blocks, in the option's order.
    #[inline]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// From one to four times eight bytes.
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

/// The options of a header, one by one, padding left out.
///
/// An option of a length that it cannot have is an error, and the next one
/// follows it. A length that leads nowhere, below two or past the end, is an
/// error and ends the options.
#[derive(Clone, Copy, Debug)]
pub struct TcpOptions<'a> {
    rest: &'a [u8],
}

impl<'a> TcpOptions<'a> {
    /// Of the bytes between a TCP header and its payload.
    #[inline]
    pub const fn new(bytes: &'a [u8]) -> TcpOptions<'a> {
        TcpOptions { rest: bytes }
    }

    /// Bytes that are not read yet. They tell the place of the next option, its padding first.
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

/// What [`emit_options`] writes for these options, padding included; a multiple of four.
pub fn options_len(options: &[TcpOption<'_>]) -> usize {
    let mut at = 0;
    for (index, option) in options.iter().enumerate() {
        let [before, after] = padding(at, option, options.get(index + 1));
        at += before + option.wire_len() + after;
    }
    at
}

/// Writes options to the front of `out`; returns what they take, padding included.
///
/// NOPs stand before an option, so that each ends on a multiple of four and
/// the numbers in it are aligned as far as they can be (RFC 7323, appendix A);
/// those of MPTCP have them behind, as Linux writes them. SACK-permitted goes
/// without when timestamps follow: their 2 and 10 bytes need no padding
/// between them.
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

/// How many NOPs stand before `option` at `at`, and after it.
#[inline]
fn padding(at: usize, option: &TcpOption<'_>, next: Option<&TcpOption<'_>>) -> [usize; 2] {
    let missing = (at + option.wire_len()).wrapping_neg() % 4;
    match (option, next) {
        (TcpOption::SackPermitted, Some(TcpOption::Timestamps { .. })) => [0, 0],
        (TcpOption::Multipath(_), _) => [0, missing],
        _ => [missing, 0],
    }
}
