//! What can be wrong with bytes, and with options.

use thiserror::Error;

/// Why bytes are not what they were taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// They end too early: a packet cut short, or a length field that says too much.
    #[error("{got} bytes where {needed} are needed")]
    Truncated {
        /// How many bytes are needed at least.
        needed: usize,
        /// How many there are.
        got: usize,
    },
    /// The first four bits are not the IP version that was asked for, or none that is known.
    #[error("unknown IP version {0}")]
    Version(u8),
    /// A length field says less than the header takes that it stands in.
    #[error("length field says {0} bytes, less than the header takes")]
    Length(usize),
    /// A frame of 802.11 whose first byte says another kind than data, RTS, CTS and ACK.
    #[error("unknown kind of MAC frame {0:#04x}")]
    MacFrameType(u8),
    /// Part of a packet: there is no whole segment or datagram in it until it is reassembled.
    #[error("a fragment")]
    Fragment,
    /// An IPv6 packet with more extension headers than anybody has use for.
    #[error("too many extension headers")]
    ExtensionHeaders,
    /// A TCP option of a length that its kind, or its MPTCP subtype, cannot have.
    #[error("TCP option {kind} cannot have length {len}")]
    OptionLength {
        /// The option's kind.
        kind: u8,
        /// Its length, kind and length included.
        len: u8,
    },
    /// A TCP option that goes on after the header has ended.
    #[error("TCP option {kind} runs past the end of the header")]
    OptionOverrun {
        /// The option's kind.
        kind: u8,
    },
    /// A tunnel's frame of a type that there is not.
    #[error("unknown type of frame {0}")]
    FrameType(u8),
}

/// Options take more than the 40 bytes that a TCP header has for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("options take {0} bytes, a TCP header has room for 40")]
pub struct OptionsTooLong(
    /// What they take, padding included.
    pub usize,
);
