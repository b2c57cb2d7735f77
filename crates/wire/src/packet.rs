//! A whole packet: IP with TCP or UDP.

use crate::error::Malformed;
use crate::ip::{IpView, protocol};
use crate::tcp::TcpView;
use crate::udp::UdpView;

/// A view of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// IP header and payload.
    pub ip: IpView<'a>,
    /// Transport header and payload.
    pub transport: Transport<'a>,
}

/// Payload of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'a> {
    /// A TCP segment.
    Tcp(TcpView<'a>),
    /// A UDP datagram.
    Udp(UdpView<'a>),
    /// Another protocol: see the packet's [`payload`](IpView::payload).
    Other,
}

impl<'a> Packet<'a> {
    /// Parses a packet from its IP header; bytes after its length, such as Ethernet padding, are
    /// ignored.
    ///
    /// Fails for fragments, the first one included. [`IpView`] parses them.
    pub fn parse(bytes: &'a [u8]) -> Result<Packet<'a>, Malformed> {
        let ip = IpView::parse(bytes)?;
        if ip.is_fragment() {
            return Err(Malformed::Fragment);
        }
        let transport = match ip.protocol() {
            protocol::TCP => Transport::Tcp(TcpView::parse(ip.payload())?),
            protocol::UDP => Transport::Udp(UdpView::parse(ip.payload())?),
            _ => Transport::Other,
        };
        Ok(Packet { ip, transport })
    }

    /// Whether all checksums of IPv4, TCP and UDP are right. UDP needs none over IPv4 (RFC 768),
    /// but one over IPv6 (RFC 8200, section 8.1). IPv6 packets with unvisited addresses in a
    /// routing header fail.
    pub fn checksums_are_right(&self) -> bool {
        self.ip.checksum_is_right()
            && match self.transport {
                Transport::Tcp(segment) => {
                    segment.checksum_is_right(self.ip.pseudo_header(segment.as_bytes().len()))
                }
                Transport::Udp(datagram) => {
                    let may_lack = matches!(self.ip, IpView::V4(_));
                    let sum = self.ip.pseudo_header(datagram.as_bytes().len());
                    may_lack && datagram.checksum() == 0 || datagram.checksum_is_right(sum)
                }
                Transport::Other => true,
            }
    }
}
