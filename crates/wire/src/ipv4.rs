//! The IPv4 header (RFC 791, section 3.1).

use core::net::Ipv4Addr;

use crate::checksum::Checksum;
use crate::error::Malformed;
use crate::field::{array, at_least, put, u16_at};

/// A view of an IPv4 packet.
#[derive(Clone, Copy, Debug)]
pub struct Ipv4View<'a> {
    bytes: &'a [u8],
}

impl<'a> Ipv4View<'a> {
    /// Parses an IPv4 packet; bytes after its total length are ignored.
    pub fn parse(bytes: &'a [u8]) -> Result<Ipv4View<'a>, Malformed> {
        at_least(Ipv4Header::LEN, bytes)?;
        if bytes[0] >> 4 != 4 {
            return Err(Malformed::Version(bytes[0] >> 4));
        }
        let header_len = header_len(bytes[0]);
        if header_len < Ipv4Header::LEN {
            return Err(Malformed::Length(header_len));
        }
        let total = usize::from(u16_at(bytes, 2));
        if total < header_len {
            return Err(Malformed::Length(total));
        }
        at_least(total, bytes)?;
        Ok(Ipv4View {
            bytes: &bytes[..total],
        })
    }

    /// Fields of the header, without options and fragmentation.
    #[inline]
    pub fn header(&self) -> Ipv4Header {
        Ipv4Header {
            source: self.source(),
            destination: self.destination(),
            identification: u16_at(self.bytes, 4),
            dont_fragment: self.bytes[6] & 0x40 != 0,
            ttl: self.bytes[8],
            protocol: self.protocol(),
            traffic_class: self.bytes[1],
        }
    }

    /// Source address.
    #[inline]
    pub fn source(&self) -> Ipv4Addr {
        Ipv4Addr::from(array::<4>(self.bytes, 12))
    }

    /// Destination address.
    #[inline]
    pub fn destination(&self) -> Ipv4Addr {
        Ipv4Addr::from(array::<4>(self.bytes, 16))
    }

    /// Protocol of the payload: see [`protocol`](crate::protocol).
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.bytes[9]
    }

    /// Whether the packet is a fragment.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        u16_at(self.bytes, 6) & 0x3fff != 0
    }

    /// Fragment offset in bytes.
    #[inline]
    pub fn fragment_offset(&self) -> usize {
        usize::from(u16_at(self.bytes, 6) & 0x1fff) * 8
    }

    /// Options, unparsed.
    #[inline]
    pub fn options(&self) -> &'a [u8] {
        &self.bytes[Ipv4Header::LEN..header_len(self.bytes[0])]
    }

    /// Payload.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[header_len(self.bytes[0])..]
    }

    /// Whether the header checksum is right.
    #[inline]
    pub fn checksum_is_right(&self) -> bool {
        let header = &self.bytes[..header_len(self.bytes[0])];
        Checksum::new().add_bytes(header).finish() == 0
    }
}

#[inline]
fn header_len(first: u8) -> usize {
    usize::from(first & 0x0f) * 4
}

/// An IPv4 header without options, of an unfragmented packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Header {
    /// Source address.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Identification of the packet's fragments.
    pub identification: u16,
    /// Don't fragment (DF).
    pub dont_fragment: bool,
    /// Time to live, in hops.
    pub ttl: u8,
    /// Protocol of the payload: see [`protocol`](crate::protocol).
    pub protocol: u8,
    /// Differentiated services (6 bits, RFC 2474) and ECN (2 bits, RFC 3168).
    pub traffic_class: u8,
}

impl Ipv4Header {
    /// Header length in bytes.
    pub const LEN: usize = 20;

    /// Writes the header of a packet with `payload_len` bytes of payload to `out`.
    ///
    /// # Panics
    /// If `out` is shorter than the header, or the packet longer than 65 535 bytes.
    pub fn emit(&self, payload_len: usize, out: &mut [u8]) {
        let total = u16::try_from(Ipv4Header::LEN + payload_len).expect("a packet of 16-bit size");
        let out = &mut out[..Ipv4Header::LEN];
        put(out, 0, [0x45, self.traffic_class]);
        put(out, 2, total.to_be_bytes());
        put(out, 4, self.identification.to_be_bytes());
        put(out, 6, [u8::from(self.dont_fragment) << 6, 0]);
        put(out, 8, [self.ttl, self.protocol, 0, 0]);
        put(out, 12, self.source.octets());
        put(out, 16, self.destination.octets());
        let checksum = Checksum::new().add_bytes(out).finish();
        put(out, 10, checksum.to_be_bytes());
    }
}
