//! UDP (RFC 768) and tunnels: VXLAN, Geneve, GTP-U, GRE.

use std::borrow::Cow;

use etherparse::{IpNumber, UdpHeader, UdpHeaderSlice, ip_number};

use super::bytes::Bytes;
use super::checksum_state::ChecksumState;
use super::content::Content;
use super::fault::Fault;
use super::network::Payload;
use super::next::Next;

/// Destination ports: VXLAN (RFC 7348; the second is Linux's default), Geneve (RFC 8926), GTP-U (3GPP TS 29.281).
const VXLAN: [u16; 2] = [4789, 8472];
const GENEVE: u16 = 6081;
const GTP_U: u16 = 2152;
/// Bridged Ethernet in GRE (RFC 7637, 3.2) and in Geneve (RFC 8926, 3.4).
const BRIDGED_ETHERNET: u16 = 0x6558;
const MOST_EXTENSIONS: usize = 16;

/// UDP datagrams with a bare IP packet as payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unwrapping {
    /// None.
    #[default]
    Off,
    /// On all ports, if the payload looks like an IP packet.
    AnyPort,
    /// From or to this port.
    Port(u16),
}

pub(super) fn protocol_name(protocol: IpNumber) -> Cow<'static, str> {
    match protocol {
        ip_number::ICMP => "ICMP".into(),
        ip_number::IPV6_ICMP => "ICMPv6".into(),
        ip_number::IGMP => "IGMP".into(),
        ip_number::ENCAP_SEC => "ESP".into(),
        ip_number::SCTP => "SCTP".into(),
        ip_number::IPV6_NO_NEXT_HEADER => "IPv6 without a payload".into(),
        IpNumber(number @ (135 | 139 | 140)) => format!("IPv6 extension header {number}").into(),
        IpNumber(number) => format!("IP protocol {number}").into(),
    }
}

/// Parses a UDP header; returns the tunnel's name and its packet. Without one, the content has the
/// reason.
pub(super) fn udp<'a>(
    payload: &Payload<'a>,
    unwrapping: Unwrapping,
    content: &mut Content,
) -> Option<(&'static str, Next<'a>)> {
    const CLAUSE: &str = "RFC 768";
    let carried = payload.bytes;
    let Ok(header) = UdpHeaderSlice::from_slice(carried.data) else {
        return content.cut(
            "UDP header",
            carried,
            UdpHeader::LEN,
            CLAUSE,
            "a UDP header",
        );
    };
    // Bytes after the datagram are options (RFC 9868); a length of 0 means a jumbogram (RFC 2675,
    // 4).
    let datagram = match usize::from(header.length()) {
        0 => carried,
        len if (UdpHeader::LEN..=carried.on_wire).contains(&len) => carried.up_to(len),
        len => {
            let fault = format!(
                "UDP length {len} where IP carries {} bytes",
                carried.on_wire
            );
            content.faults.push(Fault::new(CLAUSE, fault));
            carried
        }
    };
    let checked = match header.checksum() {
        0 => ChecksumState::Absent,
        field => payload.checked(datagram, field),
    };
    content.udp_checksum = content.udp_checksum.worse(checked);
    let ports = [header.source_port(), header.destination_port()];
    let body = datagram.after(UdpHeader::LEN)?;
    let tunnel = tunnelled(ports[1], body);
    if checked == ChecksumState::Absent && payload.source.is_ipv6() && tunnel.is_none() {
        // Tunnels may omit it (RFC 6935).
        let fault = "UDP over IPv6 without a checksum";
        content.faults.push(Fault::new("RFC 8200, 8.1", fault));
    }
    let is_expected = match unwrapping {
        Unwrapping::Off => false,
        Unwrapping::AnyPort => true,
        Unwrapping::Port(port) => ports.contains(&port),
    };
    if is_expected && is_ip(body) {
        return Some(("UDP", Next::Ip(body)));
    }
    match tunnel {
        Some(tunnel) => Some(tunnel),
        None => content.skip("UDP"),
    }
}

fn is_ip(bytes: Bytes<'_>) -> bool {
    matches!(bytes.u8(0).map(|first| first >> 4), Some(4 | 6))
}

/// The packet in a datagram to a tunnel's port, with the tunnel's name.
fn tunnelled(port: u16, body: Bytes<'_>) -> Option<(&'static str, Next<'_>)> {
    match port {
        // With the flag for a network identifier; reserved bits are 0.
        port if VXLAN.contains(&port) && body.u8(0)? == 0x08 => {
            Some(("VXLAN", Next::Ethernet(body.after(8)?)))
        }
        GENEVE if body.u8(0)? >> 6 == 0 => {
            let options = usize::from(body.u8(0)? & 0x3f) * 4;
            let packet = body.after(8 + options)?;
            Some(("Geneve", bridged_or_not(body.u16(2)?, packet)))
        }
        GTP_U => {
            let packet = gtp_payload(body).filter(|packet| is_ip(*packet))?;
            Some(("GTP-U", Next::Ip(packet)))
        }
        _ => None,
    }
}

fn bridged_or_not(kind: u16, packet: Bytes<'_>) -> Next<'_> {
    match kind {
        BRIDGED_ETHERNET => Next::Ethernet(packet),
        kind => Next::EtherType(kind, packet),
    }
}

/// The user packet in GTP-U, version 1 (3GPP TS 29.281, 5.1 and 5.2).
fn gtp_payload(body: Bytes<'_>) -> Option<Bytes<'_>> {
    let flags = body.u8(0)?;
    let is_user_packet = flags >> 5 == 1 && flags & 0x10 != 0 && body.u8(1)? == 0xff;
    if !is_user_packet {
        return None;
    }
    // Each of the three flags adds all three fields: sequence number, N-PDU number, next extension
    // header.
    let mut at = match flags & 0x07 {
        0 => return body.after(8),
        _ => 12,
    };
    let mut next = match flags & 0x04 {
        0 => 0,
        _ => body.u8(at - 1)?,
    };
    for _ in 0..MOST_EXTENSIONS {
        if next == 0 {
            return body.after(at);
        }
        // In units of four bytes; the last byte is the next header's type.
        at += usize::from(body.u8(at)?.max(1)) * 4;
        next = body.u8(at - 1)?;
    }
    None
}

/// The packet in GRE, version 0 (RFC 2784; RFC 2890 for key and sequence number); `None` if
/// truncated.
pub(super) fn gre<'a>(payload: &Payload<'a>) -> Option<Next<'a>> {
    let body = payload.bytes;
    let flags = body.u16(0)?;
    if flags & 7 != 0 {
        return Some(Next::skipped("GRE of another version"));
    }
    let fields = [0x8000, 0x2000, 0x1000];
    let fields = fields.iter().filter(|bit| flags & **bit != 0);
    let packet = body.after(4 + 4 * fields.count())?;
    Some(bridged_or_not(body.u16(2)?, packet))
}
