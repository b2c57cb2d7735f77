//! Captures of all kinds, made here byte by byte, and what the reader makes of them.

use std::collections::HashSet;
use std::io::Write;

use proptest::prelude::*;

use super::*;

/// A segment with a wrong checksum field in IPv4: 10.0.0.1:1000 to 10.0.0.2:80, ACK, `len` bytes of payload.
fn segment(len: usize) -> Vec<u8> {
    let mut bytes = vec![
        0x03, 0xe8, 0, 80, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 1, 0, 0, 0, 0, 0,
    ];
    bytes.extend((0..len).map(|at| at as u8));
    let sum = etherparse::checksum::Sum16BitWords::new()
        .add_4bytes([10, 0, 0, 1])
        .add_4bytes([10, 0, 0, 2])
        .add_2bytes([0, 6])
        .add_2bytes((bytes.len() as u16).to_be_bytes())
        .add_slice(&bytes);
    let field = sum.ones_complement().to_ne_bytes();
    bytes[16..18].copy_from_slice(&field);
    bytes
}

fn ipv4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let total = (20 + payload.len()) as u16;
    let mut bytes = vec![0x45, 0];
    bytes.extend(total.to_be_bytes());
    bytes.extend([0, 7]);
    bytes.extend(fragment.to_be_bytes());
    bytes.extend([64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let sum = etherparse::checksum::Sum16BitWords::new().add_slice(&bytes);
    let field = sum.ones_complement().to_ne_bytes();
    bytes[10..12].copy_from_slice(&field);
    bytes.extend(payload);
    bytes
}

fn ipv6(next: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x60, 0, 0, 0];
    bytes.extend((payload.len() as u16).to_be_bytes());
    bytes.extend([next, 64]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    bytes.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
    bytes.extend(payload);
    bytes
}

fn tcp4(len: usize) -> Vec<u8> {
    ipv4(6, 0, &segment(len))
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x30, 0x39];
    bytes.extend(port.to_be_bytes());
    bytes.extend((8 + payload.len() as u16).to_be_bytes());
    bytes.extend([0, 0]);
    bytes.extend(payload);
    bytes
}

fn ethernet(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2; 12];
    bytes.extend(kind.to_be_bytes());
    bytes.extend(payload);
    bytes
}

fn after(header: &[u8], payload: &[u8]) -> Vec<u8> {
    [header, payload].concat()
}

fn pcap(link_type: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = 0xa1b2_3c4d_u32.to_le_bytes().to_vec();
    bytes.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]);
    bytes.extend(link_type.to_le_bytes());
    for (number, packet) in packets.iter().enumerate() {
        let len = packet.len() as u32;
        for field in [1, number as u32, len, len] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(packet);
    }
    bytes
}

fn open(content: &[u8], unwrapping: Unwrapping) -> Result<CaptureReader, ReadError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    CaptureReader::open(file.path(), unwrapping, HashSet::new())
}

fn packets(content: &[u8]) -> Vec<CapturedPacket> {
    let mut reader = open(content, Unwrapping::Off).unwrap();
    std::iter::from_fn(|| reader.next_packet().unwrap()).collect()
}

/// The content of the only packet of a capture.
fn content(link_type: u32, packet: Vec<u8>) -> Content {
    let [packet] = packets(&pcap(link_type, &[packet])).try_into().unwrap();
    packet.content
}

fn assert_examined(content: &Content, len: usize) {
    let Some(segment) = &content.segment else {
        panic!("{content:?}");
    };
    assert_eq!(segment.checksum, Checked::Right, "{content:?}");
    assert_eq!((segment.len, segment.payload.len()), (len, len));
    assert_eq!(segment.source, "10.0.0.1:1000".parse().unwrap());
    assert_eq!(content.ip_checksum, Checked::Right);
    assert_eq!((&content.skipped, &content.faults[..]), (&None, &[][..]));
}

#[test]
fn each_link_header_is_removed() {
    let ip = tcp4(50);
    let snap = after(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &ip);
    let ppp = after(&[0, 0x21], &ip);
    let pppoe_len = (ppp.len() as u16).to_be_bytes();
    let pppoe = after(&[0x11, 0, 0, 1, pppoe_len[0], pppoe_len[1]], &ppp);
    let data_frame = [0x08, 2, 0, 0]
        .iter()
        .chain([2; 18].iter())
        .chain(&[0x10, 0]);
    let data_frame: Vec<u8> = data_frame.copied().collect();
    let qos_frame = after(&[&[0x88, 1][..], &data_frame[2..], &[0, 0]].concat(), &snap);
    let radiotap = [0, 0, 9, 0, 2, 0, 0, 0, 0x10];
    let tagged = after(&[0, 5, 0x81, 0, 0, 6, 8, 0], &ip);
    let sll = after(&[&[0; 14][..], &[8, 0]].concat(), &ip);
    let sll2 = after(&[&[8, 0][..], &[0; 18]].concat(), &ip);
    let frames = [
        (0, after(&[2, 0, 0, 0], &ip)),
        (108, after(&[0, 0, 0, 2], &ip)),
        (1, ethernet(0x0800, &ip)),
        (1, ethernet(0x88a8, &tagged)),
        (1, ethernet(snap.len() as u16, &snap)),
        (1, ethernet(0x8864, &pppoe)),
        (1, ethernet(0x8847, &after(&[0, 1, 0, 9, 0, 2, 1, 9], &ip))),
        (9, ppp.clone()),
        (9, after(&[0xff, 3, 0x21], &ip)),
        (50, after(&[0xff, 3], &ppp)),
        (50, after(&[0x0f, 0, 8, 0], &ip)),
        (51, pppoe),
        (12, ip.clone()),
        (14, ip.clone()),
        (101, ip.clone()),
        (228, ip.clone()),
        (104, after(&[0x0f, 0, 8, 0], &ip)),
        (105, after(&data_frame, &snap)),
        (105, qos_frame.clone()),
        (127, after(&radiotap, &after(&qos_frame, &[1, 2, 3, 4]))),
        (192, after(&[0, 0, 8, 0, 105, 0, 0, 0], &qos_frame)),
        (113, sll),
        (276, sll2),
        (204, after(&[1], &ppp)),
    ];
    for (link_type, frame) in frames {
        assert_examined(&content(link_type, frame), 50);
    }
}

#[test]
fn each_tunnel_is_removed() {
    let ip = tcp4(10);
    let frame = ethernet(0x0800, &ip);
    let tunnels = [
        ("IP in IP", ipv4(4, 0, &ip)),
        (
            "GRE",
            ipv4(47, 0, &after(&[0x20, 0, 8, 0, 0, 0, 0, 1], &ip)),
        ),
        ("GRE", ipv4(47, 0, &after(&[0, 0, 0x65, 0x58], &frame))),
        ("MPLS", ipv4(137, 0, &after(&[0, 1, 1, 9], &ip))),
        (
            "VXLAN",
            ipv4(17, 0, &udp(4789, &after(&[8, 0, 0, 0, 0, 0, 1, 0], &frame))),
        ),
        (
            "Geneve",
            ipv4(
                17,
                0,
                &udp(6081, &after(&[0, 0, 0x65, 0x58, 0, 0, 1, 0], &frame)),
            ),
        ),
        (
            "GTP-U",
            ipv4(
                17,
                0,
                &udp(2152, &after(&[0x30, 255, 0, 0, 0, 0, 0, 1], &ip)),
            ),
        ),
        (
            "GTP-U",
            ipv4(
                17,
                0,
                &udp(
                    2152,
                    &after(
                        &[0x34, 255, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0],
                        &ip,
                    ),
                ),
            ),
        ),
    ];
    for (name, packet) in tunnels {
        let found = content(101, packet);
        assert_examined(&found, 10);
        assert_eq!(found.tunnels, [name]);
    }
}

#[test]
fn a_datagram_is_unwrapped_on_request_only() {
    let capture = pcap(101, &[ipv4(17, 0, &udp(6080, &tcp4(10)))]);
    let read = |unwrapping| {
        let mut reader = open(&capture, unwrapping).unwrap();
        reader.next_packet().unwrap().unwrap().content
    };
    assert_eq!(read(Unwrapping::Off).skipped.as_deref(), Some("UDP"));
    assert_eq!(read(Unwrapping::Port(6081)).skipped.as_deref(), Some("UDP"));
    assert_examined(&read(Unwrapping::Port(6080)), 10);
    assert_examined(&read(Unwrapping::AnyPort), 10);
}

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
    assert_eq!(segment.checksum, Checked::Unknown);
    assert!(found.is_short);
}

#[test]
fn fragments_are_reassembled() {
    let whole = segment(100);
    let parts = [
        ipv4(6, 0x2000, &whole[..64]),
        ipv4(6, 0x0008, &whole[64..]),
        ipv4(6, 0x2000, &whole[..64]),
    ];
    let mut reader = open(&pcap(101, &parts), Unwrapping::Off).unwrap();
    let first = reader.next_packet().unwrap().unwrap().content;
    assert!(first.segment.is_none() && first.skipped.is_none());
    assert_examined(&reader.next_packet().unwrap().unwrap().content, 100);
    reader.next_packet().unwrap();
    assert_eq!(reader.lost_fragments(), 1);
}

#[test]
fn fragments_of_ipv6_may_have_extension_headers_behind() {
    // Destination options of 8 bytes, then 12 bytes of TCP; the rest of TCP.
    let fragmented = after(&[6, 0, 1, 4, 0, 0, 0, 0], &segment(4));
    let header = |offset: u8, more: u8| [60, 0, 0, offset | more, 0, 0, 0, 9];
    let parts = [
        ipv6(44, &after(&header(16, 0), &fragmented[16..])),
        ipv6(44, &after(&header(0, 1), &fragmented[..16])),
    ];
    let found = packets(&pcap(229, &parts));
    let segment = found[1].content.segment.as_ref().unwrap();
    assert_eq!((segment.source.port(), segment.len), (1000, 4));
}

#[test]
fn extension_headers_are_passed() {
    let hop_by_hop = [60, 0, 1, 4, 0, 0, 0, 0];
    let destination = [6, 0, 1, 4, 0, 0, 0, 0];
    let packet = ipv6(
        0,
        &[&hop_by_hop[..], &destination[..], &segment(3)].concat(),
    );
    assert_eq!(content(229, packet).segment.unwrap().payload, [0, 1, 2]);
}

#[test]
fn the_checksum_covers_the_last_address_of_a_routing_header() {
    let last = [0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9];
    let routing = after(&[6, 2, 2, 1, 0, 0, 0, 0], &last);
    let found = content(229, ipv6(43, &after(&routing, &segment(0))));
    assert_eq!(
        found.segment.unwrap().destination.ip().to_string(),
        "fd00::9"
    );
}

#[test]
fn a_partial_checksum_is_the_sum_of_the_pseudo_header() {
    let mut bytes = segment(10);
    bytes[16..18].fill(0);
    let pseudo = etherparse::checksum::Sum16BitWords::new()
        .add_4bytes([10, 0, 0, 1])
        .add_4bytes([10, 0, 0, 2])
        .add_2bytes([0, 6])
        .add_2bytes([0, 30]);
    bytes[16..18].copy_from_slice(&(!pseudo.ones_complement()).to_ne_bytes());
    let found = content(101, ipv4(6, 0, &bytes));
    assert_eq!(found.segment.unwrap().checksum, Checked::Partial);
    bytes[17] ^= 1;
    let found = content(101, ipv4(6, 0, &bytes));
    assert!(matches!(found.segment.unwrap().checksum, Checked::Wrong(_)));
}

#[test]
fn a_header_checksum_of_0_is_right_where_the_sum_is() {
    let mut packet = tcp4(0);
    packet[10..12].fill(0);
    let found = content(101, packet.clone());
    assert_eq!(found.ip_checksum, Checked::Partial);
    // An identification that makes the words add up.
    packet[4..6].fill(0);
    let sum = etherparse::checksum::Sum16BitWords::new().add_slice(&packet[..20]);
    packet[4..6].copy_from_slice(&sum.ones_complement().to_ne_bytes());
    assert_eq!(content(101, packet).ip_checksum, Checked::Right);
}

#[test]
fn packets_of_an_aggregate_have_the_same_number() {
    let packet = |len: usize| {
        let snap = after(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0], &tcp4(len));
        ethernet(snap.len() as u16, &snap)
    };
    let first = packet(3);
    let padding = vec![0; first.len().next_multiple_of(4) - first.len()];
    let header = [0x88, 1].iter().chain([0; 22].iter()).chain(&[0x80, 0]);
    let header: Vec<u8> = header.copied().collect();
    let frame = [header, first, padding, packet(5), vec![1; 4]].concat();
    let found = packets(&pcap(105, &[frame]));
    let lens = found
        .iter()
        .map(|packet| packet.content.segment.as_ref().unwrap().len);
    assert_eq!(lens.collect::<Vec<_>>(), [3, 5]);
    assert!(found.iter().all(|packet| packet.number == 1));
}

#[test]
fn options_are_read_past_unknown_and_malformed_ones() {
    let bytes = [
        99, 4, 1, 2, // unknown
        2, 3, 9, // MSS of a wrong length
        34, 6, 1, 2, 3, 4, // Fast Open
        172, 5, 0, 1, 2, // AccECN
        30, 5, 0x20, 0xff, 0, // DSS of a wrong length
        30, 12, 0x01, 0x81, 1, 2, 3, 4, 5, 6, 7, 8, // MP_CAPABLE
        3, 3, 7, // window scale
        0, 0,
    ];
    let options = Options::read(&bytes);
    assert_eq!(options.others, [(99, vec![1, 2])]);
    assert_eq!(options.window_scale, Some(7));
    assert_eq!(options.fast_open.as_deref(), Some(&[1, 2, 3, 4][..]));
    assert_eq!(options.accurate_ecn, Some((172, vec![0x0102])));
    assert_eq!((options.mptcp.len(), options.mptcp[0].flags), (1, 0x81));
    let text = "MSS of length 3, at byte 4 of the options";
    assert_eq!(options.faults, [Fault::new("RFC 9293, 3.2", text)]);
    let text = "DSS of length 5, at byte 18 of the options";
    assert_eq!(options.mptcp_faults, [Fault::new("RFC 8684, 3.3", text)]);
}

#[test]
fn violations_of_options_are_told() {
    let cases: [(&[u8], &str); 9] = [
        (
            &[0, 1],
            "padding after the end of the options is not 0, at byte 1",
        ),
        (&[3, 3, 15], "window scale 15 is more than 14"),
        (&[4, 2, 4, 2], "SACK permitted twice, at byte 2"),
        (
            &[1, 8, 0],
            "timestamps of length 0, at byte 1 of the options",
        ),
        (
            &[1, 8, 10, 1],
            "timestamps of length 10 where 3 bytes are left, at byte 1 of the options",
        ),
        (
            &[1, 8],
            "timestamps without a length, at byte 1 of the options",
        ),
        (&[30, 4, 0x20, 0x10], "DATA_FIN without a mapping"),
        (&[30, 3, 0x5e], "reserved bits of MP_PRIO are not 0"),
        (&[30, 3, 0x90], "unknown MPTCP subtype 9, at byte 0"),
    ];
    for (bytes, text) in cases {
        let options = Options::read(bytes);
        let faults = [options.faults, options.mptcp_faults].concat();
        assert_eq!(faults.len(), 1, "{text}: {faults:?}");
        assert_eq!(faults[0].text, text);
    }
    assert_eq!(Options::read(&[30, 3, 0xf0]).mptcp_faults, []);
}

#[test]
fn gzip_is_decompressed_and_a_cut_file_ends_early() {
    let plain = pcap(101, &[tcp4(10), tcp4(20)]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    encoder.write_all(&plain).unwrap();
    let compressed = encoder.finish().unwrap();
    assert_eq!(packets(&compressed).len(), 2);
    let mut reader = open(&plain[..plain.len() - 1], Unwrapping::Off).unwrap();
    assert!(reader.next_packet().unwrap().is_some());
    assert!(reader.next_packet().unwrap().is_none());
    assert!(reader.ends_within_packet());
}

#[test]
fn a_block_beyond_the_limit_is_refused() {
    let mut capture = pcap(101, &[tcp4(10)]);
    capture[32..36].fill(0xff);
    capture.resize(40 << 20, 0);
    let mut reader = open(&capture, Unwrapping::Off).unwrap();
    let error = reader.next_packet().unwrap_err();
    assert_eq!(
        error.to_string(),
        "before byte 24: a block of more than 16777216 bytes"
    );
}

#[test]
fn what_is_no_capture_is_refused() {
    for (content, text) in [
        (&b""[..], "a file of 0 bytes holds no packets"),
        (b"no capture at all, this", "unknown magic number 6e6f2063"),
    ] {
        let error = open(content, Unwrapping::Off).unwrap_err().to_string();
        assert!(error.starts_with(text), "{error}");
    }
}

/// Reads a capture to its end or to its first error.
fn exhaust(content: &[u8]) {
    for unwrapping in [Unwrapping::Off, Unwrapping::AnyPort] {
        if let Ok(mut reader) = open(content, unwrapping) {
            while let Ok(Some(_)) = reader.next_packet() {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_of_a_packet_make_it_panic(
        link_type in prop::sample::select(vec![
            0_u32, 1, 9, 12, 50, 51, 101, 104, 105, 108, 113, 127, 147, 166, 192, 204, 229, 276,
        ]),
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 0..20),
    ) {
        exhaust(&pcap(link_type, &packets));
    }

    #[test]
    fn no_change_of_a_capture_makes_it_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        end in any::<prop::sample::Index>(),
        link_type in prop::sample::select(vec![1_u32, 101]),
    ) {
        let ip = [
            tcp4(30),
            ipv4(17, 0, &udp(4789, &after(&[8, 0, 0, 0, 0, 0, 1, 0], &ethernet(0x0800, &tcp4(3))))),
            ipv4(47, 0, &after(&[0x20, 0, 8, 0, 0, 0, 0, 1], &tcp4(3))),
            ipv4(6, 0x2000, &segment(100)[..64]),
            ipv6(0, &after(&[44, 0, 1, 4, 0, 0, 0, 0, 6, 0, 0, 1, 0, 0, 0, 9], &segment(4))),
        ];
        let frames = ip.map(|packet| match link_type {
            1 => ethernet(if packet[0] >> 4 == 4 { 0x0800 } else { 0x86dd }, &packet),
            _ => packet,
        });
        let mut capture = pcap(link_type, &frames);
        for (at, value) in changes {
            let at = at.index(capture.len());
            capture[at] = value;
        }
        capture.truncate(end.index(capture.len()) + 1);
        exhaust(&capture);
    }

    #[test]
    fn no_blocks_of_pcapng_make_it_panic(
        blocks in prop::collection::vec(
            (prop::sample::select(vec![1_u32, 2, 3, 4, 5, 6, 9, 10, 0x0bad]),
             prop::collection::vec(any::<u8>(), 0..80)),
            0..20,
        ),
    ) {
        let mut capture = Vec::new();
        let section = [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255];
        let interface = [101, 0, 0, 0, 0, 0, 0, 0];
        let known = [(0x0a0d_0d0a, section.to_vec()), (1, interface.to_vec())];
        for (kind, mut body) in known.into_iter().chain(blocks) {
            body.resize(body.len().next_multiple_of(4), 0);
            let len = (body.len() as u32 + 12).to_le_bytes();
            capture.extend(kind.to_le_bytes());
            capture.extend(len);
            capture.extend(body);
            capture.extend(len);
        }
        exhaust(&capture);
    }
}
