//! A whole packet: IP, and TCP or UDP in it.

use crate::error::Malformed;
use crate::ip::{IpView, protocol};
use crate::tcp::TcpView;
use crate::udp::UdpView;

/// A packet, over its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The packet as IP has it.
    pub ip: IpView<'a>,
    /// What it carries.
    pub transport: Transport<'a>,
}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'a> {
    /// A TCP segment.
    Tcp(TcpView<'a>),
    /// A UDP datagram.
    Udp(UdpView<'a>),
    /// Something else: the packet's [`payload`](IpView::payload).
    Other,
}

impl<'a> Packet<'a> {
    /// Takes `bytes`, from the IP header on, for a packet; what follows its
    /// length (an Ethernet frame may be longer) is left out.
    ///
    /// A fragment, the first one included, is refused: what it carries is not
    /// whole. [`IpView`] reads it.
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

    /// Whether the checksums of IPv4, TCP and UDP are right, as far as they are
    /// there. UDP may go without over IPv4 (RFC 768), but not over IPv6 (RFC
    /// 8200, section 8.1). An IPv6 packet that a routing header still leads to
    /// other places is not right before its last.
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
