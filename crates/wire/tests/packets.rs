//! Whole packets that are not TCP, incomplete or invalid.

mod hex;

use hex::bytes;
use ropewalk_wire::*;

fn datagram(source: &str, destination: &str) -> Vec<u8> {
    let (source, destination) = (source.parse().unwrap(), destination.parse().unwrap());
    let ip = IpHeader::new(source, destination, protocol::UDP).unwrap();
    let mut packet = vec![0; ip.wire_len() + 8 + 3];
    let (head, rest) = packet.split_at_mut(ip.wire_len());
    ip.emit(11, head);
    let udp = UdpHeader {
        source_port: 1,
        destination_port: 2,
    };
    udp.emit(3, ip.pseudo_header(11).add_bytes(b"abc"), rest);
    rest[8..].copy_from_slice(b"abc");
    packet
}

fn datagrams() -> [Vec<u8>; 2] {
    [
        datagram("192.0.2.1", "192.0.2.2"),
        datagram("2001:db8::1", "2001:db8::2"),
    ]
}

#[test]
fn datagrams_over_either_version() {
    for mut packet in datagrams() {
        let parsed = Packet::parse(&packet).unwrap();
        let Transport::Udp(datagram) = parsed.transport else {
            panic!("{parsed:?}")
        };
        assert_eq!(datagram.payload(), b"abc");
        assert!(parsed.checksums_are_right());

        *packet.last_mut().unwrap() ^= 1;
        assert!(!Packet::parse(&packet).unwrap().checksums_are_right());
    }
}

#[test]
fn only_over_ipv4_may_a_datagram_lack_its_checksum() {
    for (mut packet, may) in datagrams().into_iter().zip([true, false]) {
        let at = packet.len() - 5;
        packet[at..at + 2].fill(0);
        assert_eq!(Packet::parse(&packet).unwrap().checksums_are_right(), may);
    }
}

#[test]
fn bytes_after_the_packet_do_not_count() {
    for mut packet in datagrams() {
        packet.extend([0xff; 9]);
        let parsed = Packet::parse(&packet).unwrap();
        assert_eq!(parsed.ip.payload().len(), 11);
        assert!(parsed.checksums_are_right());
    }
}

#[test]
fn a_datagram_may_end_before_its_packet() {
    let [mut packet, _] = datagrams();
    packet.push(0xff);
    let IpHeader::V4(ip) = Packet::parse(&packet).unwrap().ip.header() else {
        panic!()
    };
    ip.emit(12, &mut packet);
    let parsed = Packet::parse(&packet).unwrap();
    assert_eq!(parsed.ip.payload().len(), 12);
    assert!(
        parsed.checksums_are_right(),
        "its own length is what its checksum knows"
    );
}

#[test]
fn other_protocols_are_payload() {
    let echo_request =
        bytes("4500 0020 0000 0000 4001 f6d9 c0000201 c0000202 0800 f7fd 0001 0001 00000000");
    let parsed = Packet::parse(&echo_request).unwrap();
    assert!(matches!(parsed.transport, Transport::Other));
    assert_eq!(parsed.ip.protocol(), 1);
    assert_eq!(parsed.ip.payload(), &echo_request[20..]);
    assert!(parsed.checksums_are_right());
}

#[test]
fn fragments_are_refused() {
    let [mut v4, _] = datagrams();
    v4[6] = 0x20;
    assert_eq!(
        Packet::parse(&v4).unwrap_err(),
        Malformed::Fragment,
        "the first"
    );
    v4[6..8].copy_from_slice(&[0, 1]);
    assert_eq!(
        Packet::parse(&v4).unwrap_err(),
        Malformed::Fragment,
        "the last"
    );

    let [_, v6] = datagrams();
    for (offset, refused) in [(0x0001_u16, true), (0x0008, true), (0x0000, false)] {
        let mut fragment = v6.clone();
        let mut header = bytes("1100 0000 12345678");
        header[2..4].copy_from_slice(&offset.to_be_bytes());
        fragment[5] += 8;
        fragment[6] = 44;
        fragment.splice(40..40, header);
        match Packet::parse(&fragment) {
            Err(error) => assert!(refused && error == Malformed::Fragment),
            Ok(packet) => assert!(!refused && packet.checksums_are_right()),
        }
    }
}

#[test]
fn invalid_payload_of_ip_is_error() {
    let [v4, _] = datagrams();
    let with = |at: usize, byte: u8| {
        let mut packet = v4.clone();
        packet[at] = byte;
        Packet::parse(&packet).map(|_| ()).unwrap_err()
    };
    let truncated = |needed, got| Malformed::Truncated { needed, got };
    assert_eq!(with(9, protocol::TCP), truncated(20, 11));
    assert_eq!(with(25, 7), Malformed::Length(7));
    assert_eq!(with(25, 12), truncated(12, 11));
    assert_eq!(Packet::parse(&v4[..30]).map(|_| ()), Err(truncated(31, 30)));
}
