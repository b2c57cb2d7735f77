//! IP of either version.

use core::net::IpAddr;

use crate::checksum::Checksum;
use crate::error::Malformed;
use crate::ipv4::{Ipv4Header, Ipv4View};
use crate::ipv6::{Ipv6Header, Ipv6View};

/// Protocol numbers (IANA).
pub mod protocol {
    /// ICMP (RFC 792).
    pub const ICMP: u8 = 1;
    /// TCP (RFC 9293).
    pub const TCP: u8 = 6;
    /// UDP (RFC 768).
    pub const UDP: u8 = 17;
    /// ICMPv6 (RFC 4443).
    pub const ICMPV6: u8 = 58;
}

/// A view of an IP packet.
#[derive(Clone, Copy, Debug)]
pub enum IpView<'a> {
    /// An IPv4 packet.
    V4(Ipv4View<'a>),
    /// An IPv6 packet.
    V6(Ipv6View<'a>),
}

impl<'a> IpView<'a> {
    /// Parses an IP packet.
    pub fn parse(bytes: &'a [u8]) -> Result<IpView<'a>, Malformed> {
        match bytes.first().map(|first| first >> 4) {
            Some(4) => Ipv4View::parse(bytes).map(IpView::V4),
            Some(6) => Ipv6View::parse(bytes).map(IpView::V6),
            Some(version) => Err(Malformed::Version(version)),
            None => Err(Malformed::Truncated {
                needed: Ipv4Header::LEN,
                got: 0,
            }),
        }
    }

    /// Fields of the header, without options and extension headers.
    #[inline]
    pub fn header(&self) -> IpHeader {
        match self {
            IpView::V4(view) => IpHeader::V4(view.header()),
            IpView::V6(view) => IpHeader::V6(view.header()),
        }
    }

    /// Source address.
    #[inline]
    pub fn source(&self) -> IpAddr {
        match self {
            IpView::V4(view) => view.source().into(),
            IpView::V6(view) => view.source().into(),
        }
    }

    /// Destination address.
    #[inline]
    pub fn destination(&self) -> IpAddr {
        match self {
            IpView::V4(view) => view.destination().into(),
            IpView::V6(view) => view.destination().into(),
        }
    }

    /// Protocol of the payload: see [`protocol`].
    #[inline]
    pub fn protocol(&self) -> u8 {
        match self {
            IpView::V4(view) => view.protocol(),
            IpView::V6(view) => view.protocol(),
        }
    }

    /// Whether it is a fragment.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        match self {
            IpView::V4(view) => view.is_fragment(),
            IpView::V6(view) => view.is_fragment(),
        }
    }

    /// Payload after the header, options and extension headers.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        match self {
            IpView::V4(view) => view.payload(),
            IpView::V6(view) => view.payload(),
        }
    }

    /// Whether the header checksum is right; true for IPv6, which has none.
    #[inline]
    pub fn checksum_is_right(&self) -> bool {
        match self {
            IpView::V4(view) => view.checksum_is_right(),
            IpView::V6(_) => true,
        }
    }

    /// Pseudo-header sum of a segment or datagram of `len` bytes.
    #[inline]
    pub fn pseudo_header(&self, len: usize) -> Checksum {
        self.header().pseudo_header(len)
    }
}

/// Fields of an IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IpHeader {
    /// IPv4 header.
    V4(Ipv4Header),
    /// IPv6 header.
    V6(Ipv6Header),
}

impl IpHeader {
    /// A header with hop limit 64, DF in IPv4, and zeros elsewhere. `None` if the versions of the
    /// addresses differ.
    pub fn new(source: IpAddr, destination: IpAddr, protocol: u8) -> Option<IpHeader> {
        match (source, destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Some(IpHeader::V4(Ipv4Header {
                source,
                destination,
                identification: 0,
                dont_fragment: true,
                ttl: 64,
                protocol,
                traffic_class: 0,
            })),
            (IpAddr::V6(source), IpAddr::V6(destination)) => Some(IpHeader::V6(Ipv6Header {
                source,
                destination,
                hop_limit: 64,
                protocol,
                traffic_class: 0,
                flow_label: 0,
            })),
            _ => None,
        }
    }

    /// Length of the header.
    #[inline]
    pub fn wire_len(&self) -> usize {
        match self {
            IpHeader::V4(_) => Ipv4Header::LEN,
            IpHeader::V6(_) => Ipv6Header::LEN,
        }
    }

    /// Writes the header of a packet with `payload_len` bytes of payload to `out`.
    ///
    /// # Panics
    /// If `out` is shorter than the header, or the packet too long for its length field.
    pub fn emit(&self, payload_len: usize, out: &mut [u8]) {
        match self {
            IpHeader::V4(header) => header.emit(payload_len, out),
            IpHeader::V6(header) => header.emit(payload_len, out),
        }
    }

    /// Pseudo-header sum of a segment or datagram of `len` bytes.
    #[inline]
    pub fn pseudo_header(&self, len: usize) -> Checksum {
        match self {
            IpHeader::V4(ip) => {
                Checksum::pseudo_header_v4(ip.source, ip.destination, ip.protocol, len)
            }
            IpHeader::V6(ip) => {
                Checksum::pseudo_header_v6(ip.source, ip.destination, ip.protocol, len)
            }
        }
    }
}
