//! IP headers, byte by byte: fields, emission, and errors.

mod hex;

use core::net::{Ipv4Addr, Ipv6Addr};

use hex::bytes;
use ropewalk_wire::ipv6::MAX_EXTENSION_HEADERS;
use ropewalk_wire::*;

const UDP_OVER_IPV4: &str = "4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7";

fn truncated(needed: usize, got: usize) -> Malformed {
    Malformed::Truncated { needed, got }
}

fn ipv4_packet() -> Vec<u8> {
    let mut packet = bytes(UDP_OVER_IPV4);
    packet.resize(0x73, 0xaa);
    packet
}

#[test]
fn ipv4_header() {
    let packet = ipv4_packet();
    let view = Ipv4View::parse(&packet).unwrap();
    let header = Ipv4Header {
        source: [192, 168, 0, 1].into(),
        destination: [192, 168, 0, 199].into(),
        identification: 0,
        dont_fragment: true,
        ttl: 64,
        protocol: protocol::UDP,
        traffic_class: 0,
    };
    assert_eq!(view.header(), header);
    assert_eq!(view.source(), header.source);
    assert_eq!(view.destination(), header.destination);
    assert_eq!(view.protocol(), header.protocol);
    assert_eq!(view.payload(), [0xaa; 0x73 - 20]);
    assert_eq!(view.options(), []);
    assert!(view.checksum_is_right());
    assert!(!view.is_fragment());

    let mut written = [0xee; 21];
    header.emit(0x73 - 20, &mut written);
    assert_eq!(written[..20], bytes(UDP_OVER_IPV4));
    assert_eq!(written[20], 0xee);
}

#[test]
fn ipv4_every_field_has_its_place() {
    let header = Ipv4Header {
        source: [1, 2, 3, 4].into(),
        destination: [5, 6, 7, 8].into(),
        identification: 0xabcd,
        dont_fragment: false,
        ttl: 9,
        protocol: 10,
        traffic_class: 0x2e << 2 | 1,
    };
    let mut written = [0xee; 20];
    header.emit(0, &mut written);
    assert_eq!(
        written[..],
        bytes("45b9 0014 abcd 0000 090a f546 01020304 05060708")
    );
    assert_eq!(Ipv4View::parse(&written).unwrap().header(), header);
}

#[test]
fn ipv4_options_are_part_of_the_header() {
    // A router alert (RFC 2113), covered by the checksum.
    let mut packet = bytes("46c0 0020 0000 4000 0102 4200 c0000201 e0000016 94040000 16000904");
    packet.extend_from_slice(&bytes("e00000fb ffff"));
    let view = Ipv4View::parse(&packet).unwrap();
    assert_eq!(view.options(), bytes("94040000"));
    assert_eq!(
        view.payload(),
        bytes("16000904 e00000fb"),
        "padding left out"
    );
    assert!(view.checksum_is_right());
    packet[22] = 1;
    assert!(!Ipv4View::parse(&packet).unwrap().checksum_is_right());
}

#[test]
fn ipv4_fragments_are_told() {
    for (field, is_fragment, offset) in [
        (0x0000_u16, false, 0),
        (0x4000, false, 0),
        (0x8000, false, 0),
        (0x2000, true, 0),
        (0x2001, true, 8),
        (0x1fff, true, 65_528),
    ] {
        let mut packet = ipv4_packet();
        packet[6..8].copy_from_slice(&field.to_be_bytes());
        let view = Ipv4View::parse(&packet).unwrap();
        assert_eq!(
            (view.is_fragment(), view.fragment_offset()),
            (is_fragment, offset),
            "{field:#x}"
        );
        assert_eq!(view.header().dont_fragment, field == 0x4000);
    }
}

#[test]
fn ipv4_that_is_none() {
    let packet = ipv4_packet();
    let with = |at: usize, byte: u8| {
        let mut packet = packet.clone();
        packet[at] = byte;
        Ipv4View::parse(&packet)
            .map(|view| view.header())
            .unwrap_err()
    };
    assert_eq!(with(0, 0x65), Malformed::Version(6));
    assert_eq!(with(0, 0x44), Malformed::Length(16));
    assert_eq!(with(3, 19), Malformed::Length(19));
    assert_eq!(with(3, 0x74), truncated(0x74, 0x73));
    assert_eq!(
        Ipv4View::parse(&packet[..19]).unwrap_err(),
        truncated(20, 19)
    );
    assert_eq!(Ipv4View::parse(&[]).unwrap_err(), truncated(20, 0));

    let mut long_header = packet.clone();
    long_header[0] = 0x4f;
    assert_eq!(
        Ipv4View::parse(&long_header).unwrap().payload().len(),
        0x73 - 60
    );
    long_header[3] = 59;
    assert_eq!(
        Ipv4View::parse(&long_header).unwrap_err(),
        Malformed::Length(59)
    );
}

#[test]
#[should_panic(expected = "a packet of 16-bit size")]
fn ipv4_longer_than_can_be_said() {
    let packet = ipv4_packet();
    let header = Ipv4View::parse(&packet).unwrap().header();
    header.emit(65_516, &mut [0; 20]);
}

fn ipv6_packet(next_header: u8, rest: &str) -> Vec<u8> {
    let rest = bytes(rest);
    let mut packet = bytes("6b9abcde 0000 00 40");
    packet[5] = rest.len() as u8;
    packet[6] = next_header;
    packet.extend(bytes("20010db8000000000000000000000001"));
    packet.extend(bytes("20010db80000000000000000000000ff"));
    packet.extend(rest);
    packet
}

#[test]
fn ipv6_header() {
    let packet = ipv6_packet(17, "0102030405");
    let view = Ipv6View::parse(&packet).unwrap();
    let header = Ipv6Header {
        source: "2001:db8::1".parse().unwrap(),
        destination: "2001:db8::ff".parse().unwrap(),
        hop_limit: 64,
        protocol: protocol::UDP,
        traffic_class: 0xb9,
        flow_label: 0xabcde,
    };
    assert_eq!(view.header(), header);
    assert_eq!(view.source(), header.source);
    assert_eq!(view.destination(), header.destination);
    assert_eq!(view.payload(), [1, 2, 3, 4, 5]);
    assert!(!view.is_fragment());

    let mut written = [0xee; 41];
    header.emit(5, &mut written);
    assert_eq!(written[..40], packet[..40]);
    assert_eq!(written[40], 0xee);

    let large_label = Ipv6Header {
        flow_label: 0xfff_abcde,
        ..header
    };
    large_label.emit(5, &mut written);
    assert_eq!(
        written[..40],
        packet[..40],
        "no more than its 20 bits are written"
    );
}

#[test]
fn ipv6_extension_headers_are_passed() {
    // Hop-by-hop (padding), destination options (16 bytes), routing, atomic fragment, UDP.
    let packet = ipv6_packet(
        0,
        "3c00010400000000
         2b01010c000000000000000000000000
         2c00000000000000
         1100 0000 12345678
         aabbcc",
    );
    let view = Ipv6View::parse(&packet).unwrap();
    assert_eq!(view.protocol(), protocol::UDP);
    assert_eq!(view.header().protocol, protocol::UDP);
    assert_eq!(view.payload(), [0xaa, 0xbb, 0xcc]);
    assert!(!view.is_fragment());
}

#[test]
fn ipv6_fragments_are_told() {
    let first = ipv6_packet(44, "3c00 0001 12345678 0600010400000000 aabb");
    let view = Ipv6View::parse(&first).unwrap();
    assert!(view.is_fragment());
    assert_eq!(
        (view.protocol(), view.fragment_offset()),
        (protocol::TCP, 0)
    );
    assert_eq!(view.payload(), [0xaa, 0xbb]);

    // An extension header in the first fragment is payload here.
    let last = ipv6_packet(44, "3c00 0010 12345678 0600010400000000 aabb");
    let view = Ipv6View::parse(&last).unwrap();
    assert!(view.is_fragment());
    assert_eq!((view.protocol(), view.fragment_offset()), (60, 16));
    assert_eq!(view.payload().len(), 10);

    // The two bits between offset and M are reserved.
    let atomic = ipv6_packet(44, "0600 0006 12345678");
    assert!(!Ipv6View::parse(&atomic).unwrap().is_fragment());
}

#[test]
fn ipv6_that_is_none() {
    let parse = |packet: &[u8]| {
        Ipv6View::parse(packet)
            .map(|view| view.header())
            .unwrap_err()
    };
    let packet = ipv6_packet(6, "0102");
    assert_eq!(parse(&ipv4_packet()), Malformed::Version(4));
    assert_eq!(parse(&packet[..39]), truncated(40, 39));
    assert_eq!(parse(&packet[..41]), truncated(42, 41));
    // The extension header ends after the packet, though more bytes follow.
    let mut cut = ipv6_packet(0, "0600010400000000");
    cut[5] = 7;
    assert_eq!(parse(&cut), truncated(48, 47));
    assert_eq!(
        parse(&ipv6_packet(60, "0601010400000000")),
        truncated(56, 48)
    );
    for protocol in [0, 43, 44, 60] {
        for cut in 0..8 {
            let packet = ipv6_packet(protocol, &"0600000000000000"[..cut * 2]);
            assert_eq!(parse(&packet), truncated(48, 40 + cut));
        }
    }
}

#[test]
fn ipv6_extension_headers_have_a_limit() {
    let most = "3c00010400000000".repeat(MAX_EXTENSION_HEADERS - 1);
    let packet = ipv6_packet(60, &format!("{most} 0600010400000000 aabb"));
    let view = Ipv6View::parse(&packet).unwrap();
    assert_eq!((view.protocol(), view.payload()), (6, &[0xaa, 0xbb][..]));

    let too_many = ipv6_packet(60, &format!("{most} 3c00010400000000 0600010400000000"));
    assert_eq!(
        Ipv6View::parse(&too_many).unwrap_err(),
        Malformed::ExtensionHeaders
    );
}

#[test]
fn ip_of_either_version() {
    let v4 = ipv4_packet();
    let v6 = ipv6_packet(6, "0102");
    for (packet, payload) in [(&v4, 0x73 - 20), (&v6, 2)] {
        let view = IpView::parse(packet).unwrap();
        let header = view.header();
        assert_eq!(view.payload().len(), payload);
        let mut written = vec![0; header.wire_len()];
        header.emit(payload, &mut written);
        assert_eq!(written, packet[..header.wire_len()]);
        assert_eq!(
            view.pseudo_header(7).finish(),
            header.pseudo_header(7).finish()
        );
    }
    assert_eq!(IpView::parse(&[]).unwrap_err(), truncated(20, 0));
    assert_eq!(
        IpView::parse(&[0x50; 60]).unwrap_err(),
        Malformed::Version(5)
    );
}

#[test]
fn ip_header_between_two_addresses() {
    let v4 = |last| Ipv4Addr::new(192, 0, 2, last);
    let v6 = |last| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last);
    let (v4, other_v4) = (v4(1), v4(2));
    let (v6, other_v6) = (v6(1), v6(2));
    assert_eq!(IpHeader::new(v4.into(), v6.into(), protocol::TCP), None);
    assert_eq!(IpHeader::new(v6.into(), v4.into(), protocol::TCP), None);
    assert_eq!(
        IpHeader::new(v4.into(), other_v4.into(), protocol::TCP),
        Some(IpHeader::V4(Ipv4Header {
            source: v4,
            destination: other_v4,
            identification: 0,
            dont_fragment: true,
            ttl: 64,
            protocol: 6,
            traffic_class: 0,
        }))
    );
    assert_eq!(
        IpHeader::new(v6.into(), other_v6.into(), protocol::TCP),
        Some(IpHeader::V6(Ipv6Header {
            source: v6,
            destination: other_v6,
            hop_limit: 64,
            protocol: 6,
            traffic_class: 0,
            flow_label: 0,
        }))
    );
}
