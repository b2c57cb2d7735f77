//! The TCP header (RFC 9293, section 3.1).

use crate::checksum::Checksum;
use crate::error::{Malformed, OptionsTooLong};
use crate::field::{at_least, put, u16_at, u32_at};
use crate::tcp_options::{TcpOption, TcpOptions, emit_options};

/// A view of a TCP segment.
#[derive(Clone, Copy, Debug)]
pub struct TcpView<'a> {
    bytes: &'a [u8],
}

impl<'a> TcpView<'a> {
    /// Parses a TCP segment of all bytes.
    pub fn parse(bytes: &'a [u8]) -> Result<TcpView<'a>, Malformed> {
        at_least(TcpHeader::LEN, bytes)?;
        let view = TcpView { bytes };
        let header_len = view.header_len();
        if header_len < TcpHeader::LEN {
            return Err(Malformed::Length(header_len));
        }
        at_least(header_len, bytes)?;
        Ok(view)
    }

    /// Fields of the header, without options.
    #[inline]
    pub fn header(&self) -> TcpHeader {
        TcpHeader {
            source_port: u16_at(self.bytes, 0),
            destination_port: u16_at(self.bytes, 2),
            seq: u32_at(self.bytes, 4),
            ack: u32_at(self.bytes, 8),
            flags: TcpFlags(self.bytes[13]),
            window: u16_at(self.bytes, 14),
            urgent: u16_at(self.bytes, 18),
        }
    }

    /// Length of header and options in bytes: the data offset.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.bytes[12] >> 4) * 4
    }

    /// Options, parsed one by one.
    #[inline]
    pub fn options(&self) -> TcpOptions<'a> {
        TcpOptions::new(&self.bytes[TcpHeader::LEN..self.header_len()])
    }

    /// Header, options and payload.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Payload.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.header_len()..]
    }

    /// Whether the checksum is right. `pseudo_header` is for [`as_bytes`](TcpView::as_bytes)'
    /// length.
    #[inline]
    pub fn checksum_is_right(&self, pseudo_header: Checksum) -> bool {
        pseudo_header.add_bytes(self.bytes).finish() == 0
    }
}

/// A TCP header without data offset and checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpHeader {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Sequence number of the first byte, or of SYN.
    pub seq: u32,
    /// Acknowledgement number; valid with [`TcpFlags::ACK`].
    pub ack: u32,
    /// Control bits.
    pub flags: TcpFlags,
    /// Receive window before scaling (RFC 7323, section 2.2).
    pub window: u16,
    /// End of urgent data, relative to `seq`; valid with [`TcpFlags::URG`].
    pub urgent: u16,
}

impl TcpHeader {
    /// Length without options, in bytes.
    pub const LEN: usize = 20;

    /// Writes header and options to `out`; returns their length, [`LEN`](TcpHeader::LEN) plus
    /// [`options_len`](crate::options_len). `rest` is the sum of the pseudo-header and the payload.
    ///
    /// # Panics
    /// If `out` is shorter than header and options.
    pub fn emit(
        &self,
        options: &[TcpOption<'_>],
        rest: Checksum,
        out: &mut [u8],
    ) -> Result<usize, OptionsTooLong> {
        let len = TcpHeader::LEN + emit_options(options, &mut out[TcpHeader::LEN..])?;
        let out = &mut out[..len];
        put(out, 0, self.source_port.to_be_bytes());
        put(out, 2, self.destination_port.to_be_bytes());
        put(out, 4, self.seq.to_be_bytes());
        put(out, 8, self.ack.to_be_bytes());
        put(out, 12, [(len as u8 / 4) << 4, self.flags.0]);
        put(out, 14, self.window.to_be_bytes());
        put(out, 16, [0, 0]);
        put(out, 18, self.urgent.to_be_bytes());
        // Header and options have an even length, so that the order of the sums does not matter.
        let checksum = Checksum::new().add_bytes(out).add_sum(rest).finish();
        put(out, 16, checksum.to_be_bytes());
        Ok(len)
    }
}

/// Control bits (RFC 9293, section 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(u8);

impl TcpFlags {
    /// No bits.
    pub const NONE: TcpFlags = TcpFlags(0);
    /// No more data from the sender.
    pub const FIN: TcpFlags = TcpFlags(0x01);
    /// Synchronises sequence numbers: opens a connection.
    pub const SYN: TcpFlags = TcpFlags(0x02);
    /// Resets the connection.
    pub const RST: TcpFlags = TcpFlags(0x04);
    /// Asks the receiver to pass the data on at once.
    pub const PSH: TcpFlags = TcpFlags(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: TcpFlags = TcpFlags(0x10);
    /// The urgent pointer is valid.
    pub const URG: TcpFlags = TcpFlags(0x20);
    /// ECN echo (RFC 3168).
    pub const ECE: TcpFlags = TcpFlags(0x40);
    /// Congestion window reduced (RFC 3168).
    pub const CWR: TcpFlags = TcpFlags(0x80);

    /// Decodes the header's byte.
    #[inline]
    pub const fn from_bits(bits: u8) -> TcpFlags {
        TcpFlags(bits)
    }

    /// Encodes the header's byte.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all bits of `other` are set.
    #[inline]
    pub const fn contains(self, other: TcpFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other` as well.
    #[inline]
    #[must_use]
    pub const fn with(self, other: TcpFlags) -> TcpFlags {
        TcpFlags(self.0 | other.0)
    }
}
