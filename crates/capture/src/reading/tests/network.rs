//! Fragments, extension headers and checksums.

use super::*;

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
    // Destination options of 8 bytes and 12 bytes of TCP; then the rest of TCP.
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
    assert_eq!(found.segment.unwrap().checksum, ChecksumState::Partial);
    bytes[17] ^= 1;
    let found = content(101, ipv4(6, 0, &bytes));
    assert!(matches!(
        found.segment.unwrap().checksum,
        ChecksumState::Wrong(_)
    ));
}

#[test]
fn zero_header_checksum_is_right_if_sum_matches() {
    let mut packet = tcp4(0);
    packet[10..12].fill(0);
    let found = content(101, packet.clone());
    assert_eq!(found.ip_checksum, ChecksumState::Partial);
    packet[4..6].fill(0);
    let sum = etherparse::checksum::Sum16BitWords::new().add_slice(&packet[..20]);
    packet[4..6].copy_from_slice(&sum.ones_complement().to_ne_bytes());
    assert_eq!(content(101, packet).ip_checksum, ChecksumState::Right);
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
