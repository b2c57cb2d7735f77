//! Malformed, truncated, padded and skipped packets.

use super::*;

#[test]
fn a_packet_that_is_not_examined_has_a_reason() {
    let cases = [
        ("ARP", 1, ethernet(0x0806, &[0; 28])),
        ("LLDP", 1, ethernet(0x88cc, &[0; 28])),
        ("EtherType 0x9000", 1, ethernet(0x9000, &[0; 28])),
        ("STP", 1, ethernet(38, &[0x42, 0x42, 3, 0, 0])),
        ("PPP protocol 0xc021", 9, vec![0xff, 3, 0xc0, 0x21, 1, 1]),
        ("802.11 management", 105, vec![0x80; 40]),
        ("802.11 protected", 105, after(&[0x08, 0x41], &[0; 40])),
        ("802.11 without data", 105, after(&[0x48, 1], &[0; 40])),
        (
            "802.11 received in error",
            127,
            after(&[0, 0, 9, 0, 2, 0, 0, 0, 0x50], &[0; 40]),
        ),
        ("link type 147", 147, vec![1, 2, 3]),
        ("ICMP", 101, ipv4(1, 0, &[8, 0, 0, 0])),
        ("SCTP", 101, ipv4(132, 0, &[0; 20])),
        ("UDP", 101, ipv4(17, 0, &udp(53, b"query"))),
        ("IP protocol 89", 101, ipv4(89, 0, &[0; 20])),
        (
            "IPv6 extension header 135",
            101,
            ipv6(135, &[59, 0, 0, 0, 0, 0, 0, 0]),
        ),
        ("ESP", 101, ipv6(50, &[0; 20])),
        ("cut short", 1, vec![2; 9]),
    ];
    for (reason, link_type, packet) in cases {
        let found = content(link_type, packet);
        assert_eq!(found.skipped.as_deref(), Some(reason));
        assert!(found.segment.is_none());
        assert_eq!(found.faults, []);
    }
}

#[test]
fn a_broken_header_is_a_fault_with_its_clause() {
    let changed = |mut bytes: Vec<u8>, at: usize, value: u8| {
        bytes[at] = value;
        bytes
    };
    let cases = [
        ("RFC 791, 3.1", "IP version 5", changed(tcp4(0), 0, 0x50)),
        (
            "RFC 791, 3.1",
            "IPv4 header of 16 bytes",
            changed(tcp4(0), 0, 0x44),
        ),
        (
            "RFC 791, 3.1",
            "19 bytes of an IPv4 header of 20",
            tcp4(0)[..19].to_vec(),
        ),
        (
            "RFC 8200, 3",
            "39 bytes of an IPv6 header of 40",
            ipv6(6, &[])[..39].to_vec(),
        ),
        (
            "RFC 791, 3.1",
            "IPv4 reserved flag is not 0",
            changed(tcp4(0), 6, 0x80),
        ),
        (
            "RFC 1122, 3.2.1.7",
            "IPv4 time to live is 0",
            changed(tcp4(0), 8, 0),
        ),
        (
            "RFC 8200, 3",
            "IPv6 hop limit is 0",
            changed(ipv6(59, &[]), 7, 0),
        ),
        (
            "RFC 9293, 3.1",
            "19 bytes of a TCP header of 20",
            ipv4(6, 0, &segment(0)[..19]),
        ),
        (
            "RFC 9293, 3.1",
            "TCP data offset of 16 bytes in a segment of 20",
            changed(tcp4(0), 32, 0x40),
        ),
        (
            "RFC 768",
            "7 bytes of a UDP header of 8",
            ipv4(17, 0, &[0; 7]),
        ),
        (
            "RFC 768",
            "UDP length 90 where IP carries 9 bytes",
            changed(ipv4(17, 0, &udp(53, b"x")), 25, 90),
        ),
        (
            "RFC 8200, 8.1",
            "UDP over IPv6 without a checksum",
            ipv6(17, &udp(53, b"x")),
        ),
    ];
    for (clause, text, packet) in cases {
        let found = content(101, packet);
        let fault = Fault::new(clause, text);
        assert!(found.faults.contains(&fault), "{fault:?}: {found:?}");
    }
}

#[test]
fn bytes_behind_the_packet_do_not_count() {
    let found = content(1, after(&ethernet(0x0800, &tcp4(40)), &[9; 4]));
    assert_examined(&found, 40);
    assert_eq!(found.trailing, 4);
    let padded = content(1, after(&ethernet(0x0800, &tcp4(0)), &[0; 6]));
    assert_examined(&padded, 0);
    assert_eq!(padded.trailing, 0);
}

#[test]
fn a_length_of_0_takes_all_of_the_frame() {
    let mut packet = tcp4(100);
    packet[2..4].fill(0);
    let found = content(101, packet);
    assert!(found.zero_length);
    assert_eq!(found.segment.unwrap().len, 100);
}

#[test]
fn a_frame_shorter_than_its_packet_was_captured_in_part() {
    let found = content(101, tcp4(100)[..80].to_vec());
    let segment = found.segment.unwrap();
    assert_eq!((segment.len, segment.payload.len()), (100, 40));
    assert_eq!(segment.checksum, ChecksumState::Unknown);
    assert!(found.is_short);
}
