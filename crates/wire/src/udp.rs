//! The UDP header (RFC 768).

use crate::checksum::Checksum;
use crate::error::Malformed;
use crate::field::{at_least, put, u16_at};

/// A view of a UDP datagram.
#[derive(Clone, Copy, Debug)]
pub struct UdpView<'a> {
    bytes: &'a [u8],
}

impl<'a> UdpView<'a> {
    /// Parses a UDP datagram; bytes after its length are ignored.
    pub fn parse(bytes: &'a [u8]) -> Result<UdpView<'a>, Malformed> {
        at_least(UdpHeader::LEN, bytes)?;
        let len = usize::from(u16_at(bytes, 4));
        if len < UdpHeader::LEN {
            return Err(Malformed::Length(len));
        }
        at_least(len, bytes)?;
        Ok(UdpView {
            bytes: &bytes[..len],
        })
    }

    /// Fields of the header.
    #[inline]
    pub fn header(&self) -> UdpHeader {
        UdpHeader {
            source_port: u16_at(self.bytes, 0),
            destination_port: u16_at(self.bytes, 2),
        }
    }

    /// Checksum field; zero if unused.
    #[inline]
    pub fn checksum(&self) -> u16 {
        u16_at(self.bytes, 6)
    }

    /// Header and payload.
    #[inline]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Payload.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[UdpHeader::LEN..]
    }

    /// Whether the checksum is right. `pseudo_header` is for [`as_bytes`](UdpView::as_bytes)'
    /// length. The caller accepts IPv4 datagrams without a checksum.
    #[inline]
    pub fn checksum_is_right(&self, pseudo_header: Checksum) -> bool {
        self.checksum() != 0 && pseudo_header.add_bytes(self.bytes).finish() == 0
    }
}

/// A UDP header without length and checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpHeader {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl UdpHeader {
    /// Header length in bytes.
    pub const LEN: usize = 8;

    /// Writes the header of a datagram with `payload_len` bytes of payload to `out`. `rest` is the
    /// sum of the pseudo-header and the payload. Zero means no checksum, so a checksum of zero is
    /// written as 0xffff (RFC 768; RFC 8200, section 8.1).
    ///
    /// # Panics
    /// If `out` is shorter than the header, or the datagram longer than 65 535 bytes.
    pub fn emit(&self, payload_len: usize, rest: Checksum, out: &mut [u8]) {
        let len = u16::try_from(UdpHeader::LEN + payload_len).expect("a datagram of 16-bit size");
        let checksum = Checksum::new()
            .add_u16(self.source_port)
            .add_u16(self.destination_port)
            .add_u16(len)
            .add_sum(rest)
            .finish();
        let checksum = if checksum == 0 { 0xffff } else { checksum };
        put(out, 0, self.source_port.to_be_bytes());
        put(out, 2, self.destination_port.to_be_bytes());
        put(out, 4, len.to_be_bytes());
        put(out, 6, checksum.to_be_bytes());
    }
}
