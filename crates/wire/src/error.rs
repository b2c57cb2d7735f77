//! Errors of parsing packets and emitting options.

use thiserror::Error;

/// Why bytes cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// The bytes are truncated, or a length field is too large.
    #[error("{got} bytes; needed: at least {needed}")]
    Truncated {
        /// Minimum number of bytes.
        needed: usize,
        /// Available number of bytes.
        got: usize,
    },
    /// The IP version is unknown or not the expected one.
    #[error("unknown IP version {0}")]
    Version(u8),
    /// A length field is below the header's own length.
    #[error("length field of {0} bytes is below the header length")]
    Length(usize),
    /// The 802.11 frame is not data, RTS, CTS or ACK.
    #[error("unknown kind of MAC frame {0:#04x}")]
    MacFrameType(u8),
    /// The packet is a fragment, without a complete segment or datagram.
    #[error("a fragment")]
    Fragment,
    /// The IPv6 packet has too many extension headers.
    #[error("too many extension headers")]
    ExtensionHeaders,
    /// The TCP option's length is invalid for its kind or MPTCP subtype.
    #[error("TCP option {kind} cannot have length {len}")]
    OptionLength {
        /// Option kind.
        kind: u8,
        /// Length field, which includes kind and length.
        len: u8,
    },
    /// The TCP option exceeds the header.
    #[error("TCP option {kind} runs past the end of the header")]
    OptionOverrun {
        /// Option kind.
        kind: u8,
    },
    /// The type of the tunnel frame is unknown.
    #[error("unknown type of frame {0}")]
    FrameType(u8),
}

/// The options exceed the 40 bytes of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("TCP options of {0} bytes; allowed: at most 40")]
pub struct OptionsTooLong(
    /// Length with padding.
    pub usize,
);
