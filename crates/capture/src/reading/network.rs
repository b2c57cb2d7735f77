//! Headers of IPv4 (RFC 791) and IPv6 (RFC 8200) with extension headers, on the `etherparse` crate.

use std::net::{IpAddr, Ipv6Addr};

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    IpNumber, Ipv4HeaderSlice, Ipv6ExtensionSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice,
    LaxIpv4Slice, LaxIpv6Slice, ip_number,
};

use super::bytes::Bytes;
use super::checksum_state::ChecksumState;
use super::content::Content;
use super::fault::Fault;
use super::fragments::FragmentPosition;
use super::next::CUT_SHORT;

const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;

/// Payload of an IP packet, with the pseudo-header's fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payload<'a> {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    pub(super) protocol: IpNumber,
    pub(super) bytes: Bytes<'a>,
    pub(super) fragment: Option<(u32, FragmentPosition)>,
}

impl Payload<'_> {
    /// Pseudo-header sum for an upper-layer length (RFC 9293, 3.1; RFC 768; RFC 8200, 8.1).
    fn pseudo_header(&self, len: usize) -> Sum16BitWords {
        let mut sum = Sum16BitWords::new();
        for address in [self.source, self.destination] {
            sum = match address {
                IpAddr::V4(address) => sum.add_4bytes(address.octets()),
                IpAddr::V6(address) => sum.add_16bytes(address.octets()),
            };
        }
        sum.add_4bytes((len as u32).to_be_bytes())
            .add_2bytes([0, self.protocol.0])
    }

    /// State of an upper-layer checksum; `covered` excludes the pseudo-header.
    pub(super) fn checked(&self, covered: Bytes<'_>, field: u16) -> ChecksumState {
        let pseudo_header = self.pseudo_header(covered.on_wire);
        let is_partial = !pseudo_header.ones_complement() == field.to_be();
        let checked = match covered.is_whole() {
            true => ChecksumState::of(pseudo_header.add_slice(covered.data)),
            false => ChecksumState::Unknown,
        };
        match checked {
            ChecksumState::Wrong(_) | ChecksumState::Unknown if is_partial => {
                ChecksumState::Partial
            }
            checked => checked,
        }
    }
}

/// Parses an IP header of either version. Without a payload, the content has the reason.
pub(super) fn read<'a>(packet: Bytes<'a>, content: &mut Content) -> Option<Payload<'a>> {
    match packet.u8(0).map(|first| first >> 4) {
        Some(4) => ipv4(packet, content),
        Some(6) => ipv6(packet, content),
        Some(version) => {
            let fault = format!("IP version {version}");
            content.broken("IP header", Fault::new("RFC 791, 3.1", fault))
        }
        None => content.skip(CUT_SHORT),
    }
}

/// Parses extension headers of a reassembled packet, which may follow its fragment header.
pub(super) fn after_fragments<'a>(payload: Payload<'a>) -> Payload<'a> {
    if payload.source.is_ipv4() {
        return payload;
    }
    let bytes = payload.bytes.data;
    let (_, protocol, data, _) = Ipv6ExtensionsSlice::from_slice_lax(payload.protocol, bytes);
    Payload {
        protocol,
        bytes: Bytes::whole(data),
        ..payload
    }
}

fn ipv4<'a>(packet: Bytes<'a>, content: &mut Content) -> Option<Payload<'a>> {
    const CLAUSE: &str = "RFC 791, 3.1";
    let header_len = usize::from(packet.u8(0)? & 0x0f) * 4;
    if header_len < IPV4_HEADER {
        let fault = format!("IPv4 header of {header_len} bytes");
        return content.broken("IP header", Fault::new(CLAUSE, fault));
    }
    let Ok(header) = Ipv4HeaderSlice::from_slice(packet.data) else {
        return content.cut("IP header", packet, header_len, CLAUSE, "an IPv4 header");
    };
    let total = usize::from(header.total_len());
    if total != 0 && total < header_len {
        let fault = format!("IPv4 total length {total}, less than the header's {header_len}");
        content.faults.push(Fault::new(CLAUSE, fault));
    }
    if header.slice()[6] & 0x80 != 0 {
        let fault = "IPv4 reserved flag is not 0";
        content.faults.push(Fault::new(CLAUSE, fault));
    }
    if header.ttl() == 0 {
        let fault = "IPv4 time to live is 0";
        content.faults.push(Fault::new("RFC 1122, 3.2.1.7", fault));
    }
    // A sum may also be right with a field of 0: one header in 65,536.
    let checked = match ChecksumState::of(Sum16BitWords::new().add_slice(header.slice())) {
        ChecksumState::Wrong(_) if header.header_checksum() == 0 => ChecksumState::Partial,
        checked => checked,
    };
    content.ip_checksum = content.ip_checksum.worse(checked);
    content.identification = Some(header.identification());
    content.hop_limit = header.ttl();
    let packet = limited(packet, total, header_len, content);
    let Ok((slice, stopped)) = LaxIpv4Slice::from_slice(packet.data) else {
        return content.skip(CUT_SHORT);
    };
    if stopped.is_some() {
        return content.skip("IP authentication header");
    }
    let place = FragmentPosition {
        offset: header.fragments_offset(),
        more: header.more_fragments(),
    };
    let is_fragment = header.is_fragmenting_payload();
    Some(Payload {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        protocol: slice.payload_ip_number(),
        bytes: rest(packet, slice.payload().payload.len()),
        fragment: is_fragment.then(|| (header.identification().into(), place)),
    })
}

fn ipv6<'a>(packet: Bytes<'a>, content: &mut Content) -> Option<Payload<'a>> {
    const CLAUSE: &str = "RFC 8200, 3";
    let Ok(header) = Ipv6HeaderSlice::from_slice(packet.data) else {
        return content.cut("IP header", packet, IPV6_HEADER, CLAUSE, "an IPv6 header");
    };
    let len = usize::from(header.payload_length());
    if header.hop_limit() == 0 {
        let fault = "IPv6 hop limit is 0";
        content.faults.push(Fault::new(CLAUSE, fault));
    }
    content.identification = None;
    content.hop_limit = header.hop_limit();
    // A length of 0 means a jumbogram (RFC 2675, 3) or segmentation offload.
    let total = match len {
        0 if header.next_header() != ip_number::IPV6_NO_NEXT_HEADER => 0,
        _ => IPV6_HEADER + len,
    };
    let packet = limited(packet, total, IPV6_HEADER, content);
    let Ok((slice, stopped)) = LaxIpv6Slice::from_slice(packet.data) else {
        return content.skip(CUT_SHORT);
    };
    let extensions = slice.extensions();
    let payload = Payload {
        source: header.source_addr().into(),
        destination: final_destination(extensions, header.destination_addr()).into(),
        protocol: slice.payload().ip_number,
        bytes: rest(packet, slice.payload().payload.len()),
        fragment: None,
    };
    // Extension headers follow the fragment header in the first fragment only.
    if slice.is_payload_fragmented() {
        return ipv6_fragment(packet, extensions, payload);
    }
    if stopped.is_some() {
        let fault = Fault::new("RFC 8200, 4", "broken IPv6 extension header");
        return match packet.is_whole() {
            true => content.broken("IPv6 extension header", fault),
            false => content.skip(CUT_SHORT),
        };
    }
    Some(payload)
}

/// A fragment: all bytes after its fragment header are payload (RFC 8200, 4.5).
fn ipv6_fragment<'a>(
    packet: Bytes<'a>,
    extensions: &Ipv6ExtensionsSlice<'_>,
    payload: Payload<'a>,
) -> Option<Payload<'a>> {
    let mut at = IPV6_HEADER;
    for extension in extensions.clone() {
        at += extension_len(&extension);
        if let Ipv6ExtensionSlice::Fragment(fragment) = extension {
            let place = FragmentPosition {
                offset: fragment.fragment_offset(),
                more: fragment.more_fragments(),
            };
            return Some(Payload {
                protocol: fragment.next_header(),
                bytes: packet.after(at)?,
                fragment: Some((fragment.identification(), place)),
                ..payload
            });
        }
    }
    None
}

/// Limits a packet to its length field; 0 means the whole frame.
///
/// A shorter frame was captured in part, even if the file differs.
fn limited<'a>(
    packet: Bytes<'a>,
    total: usize,
    header_len: usize,
    content: &mut Content,
) -> Bytes<'a> {
    content.zero_length |= total == 0;
    if total < header_len {
        return packet;
    }
    if total > packet.on_wire {
        content.is_short = true;
        return Bytes {
            on_wire: total,
            ..packet
        };
    }
    if content.tunnels.is_empty() {
        content.trailing = packet.on_wire - total;
    }
    packet.up_to(total)
}

/// The last `len` captured bytes of a packet, and its bytes that were not captured.
fn rest(packet: Bytes<'_>, len: usize) -> Bytes<'_> {
    let at = packet.data.len() - len;
    Bytes {
        data: &packet.data[at..],
        on_wire: packet.on_wire - at,
    }
}

fn extension_len(extension: &Ipv6ExtensionSlice<'_>) -> usize {
    match extension {
        Ipv6ExtensionSlice::HopByHop(header)
        | Ipv6ExtensionSlice::Routing(header)
        | Ipv6ExtensionSlice::DestinationOptions(header) => header.slice().len(),
        Ipv6ExtensionSlice::Fragment(header) => header.slice().len(),
        Ipv6ExtensionSlice::Authentication(header) => header.slice().len(),
    }
}

/// Destination of the pseudo-header: with segments left in a routing header, its last (RFC 8200,
/// 8.1).
///
/// Routing types 0 and 2 (RFC 5095, RFC 6275) have the last address at the end, type 4 (RFC 8754)
/// at the start.
fn final_destination(extensions: &Ipv6ExtensionsSlice<'_>, destination: Ipv6Addr) -> Ipv6Addr {
    let is_fragment = |one: &_| matches!(one, Ipv6ExtensionSlice::Fragment(_));
    let mut before = extensions
        .clone()
        .into_iter()
        .take_while(|one| !is_fragment(one));
    let routing = before.find_map(|extension| {
        let Ipv6ExtensionSlice::Routing(header) = extension else {
            return None;
        };
        let bytes = header.slice();
        let address: &[u8; 16] = match (bytes[2], bytes[3]) {
            (_, 0) => None,
            (0 | 2, _) => bytes.get(8..)?.last_chunk(),
            (4, _) => bytes.get(8..)?.first_chunk(),
            _ => None,
        }?;
        Some(Ipv6Addr::from(*address))
    });
    routing.unwrap_or(destination)
}
