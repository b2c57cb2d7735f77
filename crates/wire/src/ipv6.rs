//! The IPv6 header and extension headers (RFC 8200, sections 3 and 4).

use core::net::Ipv6Addr;

use crate::error::Malformed;
use crate::field::{array, at_least, put, u16_at, u32_at};

/// Largest number of extension headers in an accepted packet.
pub const MAX_EXTENSION_HEADERS: usize = 8;

const HOP_BY_HOP: u8 = 0;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

/// A view of an IPv6 packet.
#[derive(Clone, Copy, Debug)]
pub struct Ipv6View<'a> {
    bytes: &'a [u8],
    protocol: u8,
    /// Offset after all extension headers.
    payload: usize,
    fragment: bool,
    fragment_offset: usize,
}

impl<'a> Ipv6View<'a> {
    /// Parses an IPv6 packet; bytes after its payload length are ignored.
    ///
    /// Skips up to [`MAX_EXTENSION_HEADERS`] hop-by-hop options, routing, fragment and destination
    /// options headers. After the fragment header of a later fragment everything is payload.
    /// Jumbograms (RFC 2675) count as packets without payload.
    pub fn parse(bytes: &'a [u8]) -> Result<Ipv6View<'a>, Malformed> {
        at_least(Ipv6Header::LEN, bytes)?;
        if bytes[0] >> 4 != 6 {
            return Err(Malformed::Version(bytes[0] >> 4));
        }
        let total = Ipv6Header::LEN + usize::from(u16_at(bytes, 4));
        at_least(total, bytes)?;
        let mut view = Ipv6View {
            bytes: &bytes[..total],
            protocol: bytes[6],
            payload: Ipv6Header::LEN,
            fragment: false,
            fragment_offset: 0,
        };
        for _ in 0..MAX_EXTENSION_HEADERS {
            if view.fragment_offset > 0 || !view.pass_extension_header()? {
                return Ok(view);
            }
        }
        match view.protocol {
            HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION_OPTIONS if view.fragment_offset == 0 => {
                Err(Malformed::ExtensionHeaders)
            }
            _ => Ok(view),
        }
    }

    /// Skips one header; false if it is not a known extension header.
    fn pass_extension_header(&mut self) -> Result<bool, Malformed> {
        let len = match self.protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                at_least(self.payload + 8, self.bytes)?;
                8 + 8 * usize::from(self.bytes[self.payload + 1])
            }
            FRAGMENT => 8,
            _ => return Ok(false),
        };
        let end = self.payload + len;
        at_least(end, self.bytes)?;
        if self.protocol == FRAGMENT {
            let field = u16_at(self.bytes, self.payload + 2);
            self.fragment |= field & 0xfff9 != 0;
            self.fragment_offset = usize::from(field & 0xfff8);
        }
        self.protocol = self.bytes[self.payload];
        self.payload = end;
        Ok(true)
    }

    /// Fields of the header, without extension headers.
    #[inline]
    pub fn header(&self) -> Ipv6Header {
        let first = u32_at(self.bytes, 0);
        Ipv6Header {
            source: self.source(),
            destination: self.destination(),
            hop_limit: self.bytes[7],
            protocol: self.protocol,
            traffic_class: (first >> 20) as u8,
            flow_label: first & 0x000f_ffff,
        }
    }

    /// Source address.
    #[inline]
    pub fn source(&self) -> Ipv6Addr {
        Ipv6Addr::from(array::<16>(self.bytes, 8))
    }

    /// Destination address.
    #[inline]
    pub fn destination(&self) -> Ipv6Addr {
        Ipv6Addr::from(array::<16>(self.bytes, 24))
    }

    /// Protocol after the extension headers: see [`protocol`](crate::protocol).
    #[inline]
    pub fn protocol(&self) -> u8 {
        self.protocol
    }

    /// Whether the packet is a fragment. An atomic fragment (RFC 6946) is not.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.fragment
    }

    /// Fragment offset in bytes.
    #[inline]
    pub fn fragment_offset(&self) -> usize {
        self.fragment_offset
    }

    /// Payload after the extension headers.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.payload..]
    }
}

/// An IPv6 header without extension headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv6Header {
    /// Source address.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
    /// Hop limit.
    pub hop_limit: u8,
    /// Protocol of the payload: see [`protocol`](crate::protocol).
    pub protocol: u8,
    /// Differentiated services (6 bits, RFC 2474) and ECN (2 bits, RFC 3168).
    pub traffic_class: u8,
    /// Flow label (RFC 6437): 20 bits; higher bits are not written.
    pub flow_label: u32,
}

impl Ipv6Header {
    /// Header length in bytes.
    pub const LEN: usize = 40;

    /// Writes the header of a packet with `payload_len` bytes of payload to `out`.
    ///
    /// # Panics
    /// If `out` is shorter than the header, or the payload longer than 65 535 bytes.
    pub fn emit(&self, payload_len: usize, out: &mut [u8]) {
        let len = u16::try_from(payload_len).expect("a payload of 16-bit size");
        let out = &mut out[..Ipv6Header::LEN];
        let class = u32::from(self.traffic_class) << 20;
        let first = 6 << 28 | class | (self.flow_label & 0x000f_ffff);
        put(out, 0, first.to_be_bytes());
        put(out, 4, len.to_be_bytes());
        put(out, 6, [self.protocol, self.hop_limit]);
        put(out, 8, self.source.octets());
        put(out, 24, self.destination.octets());
    }
}
