//! Errors in parsing bytes and in emitting options.

use thiserror::Error;

/// Why bytes cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// They are truncated: a packet cut short, or a length field that is too large.
    #[error("{got} bytes where {needed} are needed")]
    Truncated {
        /// How many bytes are needed at least.
        needed: usize,
        /// How many there are.
        got: usize,
    },
    /// The first four bits are not the expected IP version, or not a known one.
    #[error("unknown IP version {0}")]
    Version(u8),
    /// A length field is less than the header's own length.
    #[error("length field says {0} bytes, less than the header takes")]
    Length(usize),
    /// An 802.11 frame of another type than data, RTS, CTS and ACK.
    #[error("unknown kind of MAC frame {0:#04x}")]
    MacFrameType(u8),
    /// A fragment: it contains no complete segment or datagram before reassembly.
    #[error("a fragment")]
    Fragment,
    /// An IPv6 packet with too many extension headers.
    #[error("too many extension headers")]
    ExtensionHeaders,
    /// A TCP option with an invalid length for its kind or MPTCP subtype.
    #[error("TCP option {kind} cannot have length {len}")]
    OptionLength {
        /// The option's kind.
        kind: u8,
        /// Its length, kind and length included.
        len: u8,
    },
    /// A TCP option that exceeds the header.
    #[error("TCP option {kind} runs past the end of the header")]
    OptionOverrun {
        /// The option's kind.
        kind: u8,
    },
    /// A tunnel frame of unknown type.
    #[error("unknown type of frame {0}")]
    FrameType(u8),
}

/// The options exceed the 40 bytes available in a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("options take {0} bytes, a TCP header has room for 40")]
pub struct OptionsTooLong(
    /// Their length, padding included.
    pub usize,
);
