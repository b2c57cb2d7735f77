//! Link headers before the IP header, by link type (LINKTYPE values of tcpdump.org).

use std::borrow::Cow;

use etherparse::{EtherType, Ethernet2Slice, SingleVlanSlice, ether_type};

use crate::record::Direction;

use super::bytes::Bytes;
use super::next::Next;

pub(super) const ETHERNET: u16 = 1;
pub(super) const WIFI: u16 = 105;
pub(super) const WIFI_WITH_RADIOTAP: u16 = 127;
pub(super) const PER_PACKET_INFORMATION: u16 = 192;
/// Linux cooked captures, versions 1 and 2.
const COOKED: u16 = 113;
const COOKED_2: u16 = 276;
/// PPP after a direction byte.
const PPP_PPPD: u16 = 166;
const PPP_WITH_DIRECTION: u16 = 204;

/// Smallest EtherType; below, the field is a length (IEEE 802.3, 3.2.6).
const LEAST_ETHER_TYPE: u16 = 0x0600;

/// Skips the link header of a frame; `None` if it was not captured in full.
pub(super) fn read(link_type: u16, frame: Bytes<'_>) -> Option<Next<'_>> {
    Some(match link_type {
        // BSD loopback: a protocol family in either byte order.
        0 | 108 => {
            let packet = frame.after(4)?;
            match packet.u8(0)? >> 4 {
                4 | 6 => Next::Ip(packet),
                _ => Next::skipped("loopback of another protocol family"),
            }
        }
        ETHERNET => Next::Ethernet(frame),
        9 => Next::Ppp(frame),
        // PPP in HDLC-like framing (RFC 1662), or Cisco HDLC, which has an EtherType.
        50 => match frame.u16(0)? {
            0x0f00 | 0x8f00 => Next::EtherType(frame.u16(2)?, frame.after(4)?),
            _ => Next::Ppp(frame),
        },
        51 => Next::Pppoe(frame),
        // Raw IP; 12 and 14 are BSD's numbers.
        12 | 14 | 101 | 228 | 229 => Next::Ip(frame),
        104 => Next::EtherType(frame.u16(2)?, frame.after(4)?),
        COOKED => Next::EtherType(frame.u16(14)?, frame.after(16)?),
        COOKED_2 => Next::EtherType(frame.u16(0)?, frame.after(20)?),
        PPP_PPPD | PPP_WITH_DIRECTION => Next::Ppp(frame.after(1)?),
        other => Next::skipped(format!("link type {other}")),
    })
}

pub(super) fn direction(link_type: u16, frame: Bytes<'_>) -> Option<Direction> {
    let kind = match link_type {
        COOKED => frame.u16(0)?,
        COOKED_2 => frame.u8(10)?.into(),
        PPP_PPPD | PPP_WITH_DIRECTION => match frame.u8(0)? {
            0 => 0,
            _ => 4,
        },
        _ => return None,
    };
    // Packet types of cooked captures: to this host, from this host.
    match kind {
        0 => Some(Direction::Inbound),
        4 => Some(Direction::Outbound),
        _ => None,
    }
}

/// Link type and frame after per-packet information (PPI), whose fields are little-endian.
pub(super) fn after_information(frame: Bytes<'_>) -> Option<(u16, Bytes<'_>)> {
    Some((frame.u16_le(4)?, frame.after(frame.u16_le(2)?.into())?))
}

pub(super) fn ethernet(frame: Bytes<'_>) -> Option<Next<'_>> {
    let header = Ethernet2Slice::from_slice_without_fcs(frame.data).ok()?;
    let packet = frame.after(header.header_len())?;
    Some(Next::EtherType(header.ether_type().0, packet))
}

pub(super) fn by_ether_type(kind: u16, packet: Bytes<'_>) -> Option<Next<'_>> {
    Some(match EtherType(kind) {
        ether_type::IPV4 | ether_type::IPV6 => Next::Ip(packet),
        ether_type::VLAN_TAGGED_FRAME
        | ether_type::PROVIDER_BRIDGING
        | ether_type::VLAN_DOUBLE_TAGGED_FRAME => {
            let tag = SingleVlanSlice::from_slice(packet.data).ok()?;
            Next::EtherType(tag.ether_type().0, packet.after(tag.header_len())?)
        }
        EtherType(0x8864) => Next::Pppoe(packet),
        EtherType(0x8847 | 0x8848) => Next::Mpls(packet),
        // Without a length, in cooked captures (ETH_P_802_2).
        EtherType(0x0004) => Next::Llc(packet),
        EtherType(len) if len < LEAST_ETHER_TYPE => Next::Llc(packet.up_to(len.into())),
        other => Next::Skipped(ether_type_name(other)),
    })
}

fn ether_type_name(kind: EtherType) -> Cow<'static, str> {
    match kind {
        ether_type::ARP => "ARP".into(),
        ether_type::MACSEC => "MACsec".into(),
        EtherType(0x888e) => "EAPOL".into(),
        EtherType(0x88cc) => "LLDP".into(),
        EtherType(0x8863) => "PPPoE discovery".into(),
        EtherType(other) => format!("EtherType {other:#06x}").into(),
    }
}

/// LLC, with SNAP before an EtherType (RFC 1042).
pub(super) fn llc(packet: Bytes<'_>) -> Option<Next<'_>> {
    Some(match *packet.data {
        // Ethernet, bridged AppleTalk and IPX (IEEE 802.1H).
        [0xaa, 0xaa, 0x03, 0, 0, 0 | 0xf8, ..] => match packet.u16(6)? {
            kind if kind < LEAST_ETHER_TYPE => Next::skipped("LLC"),
            kind => Next::EtherType(kind, packet.after(8)?),
        },
        [0x06, 0x06, 0x03, ..] => Next::Ip(packet.after(3)?),
        [0x42, 0x42, 0x03, ..] => Next::skipped("STP"),
        [_, _, _, ..] => Next::skipped("LLC"),
        _ => return None,
    })
}

/// A session packet of PPP over Ethernet (RFC 2516, section 4).
pub(super) fn pppoe(packet: Bytes<'_>) -> Option<Next<'_>> {
    let len = packet.u16(4)?;
    Some(Next::Ppp(packet.after(6)?.up_to(len.into())))
}

/// PPP, with or without address and control bytes (RFC 1662, 3.1) and with protocols of one or two
/// bytes (RFC 1661, 6.5).
pub(super) fn ppp(packet: Bytes<'_>) -> Option<Next<'_>> {
    let packet = match packet.data {
        [0xff, 0x03, ..] => packet.after(2)?,
        _ => packet,
    };
    let first = packet.u8(0)?;
    let (protocol, packet) = match first & 1 {
        1 => (u16::from(first), packet.after(1)?),
        _ => (packet.u16(0)?, packet.after(2)?),
    };
    Some(match protocol {
        0x0021 | 0x0057 => Next::Ip(packet),
        0x0281 | 0x0283 => Next::Mpls(packet),
        0x002d | 0x002f => Next::skipped("PPP with compressed TCP headers"),
        other => Next::skipped(format!("PPP protocol {other:#06x}")),
    })
}

/// An MPLS label (RFC 3032, 2.1); the last one precedes an IP packet of either version.
pub(super) fn mpls(packet: Bytes<'_>) -> Option<Next<'_>> {
    let is_last = packet.u8(2)? & 1 == 1;
    let rest = packet.after(4)?;
    Some(match rest.u8(0)? >> 4 {
        _ if !is_last => Next::Mpls(rest),
        4 | 6 => Next::Ip(rest),
        _ => Next::skipped("MPLS of another protocol than IP"),
    })
}
