//! Captures of all kinds, built byte by byte, and their parsed content.

use std::collections::HashSet;
use std::io::Write;

use proptest::prelude::*;

use super::*;

mod files;
mod headers;
mod network;
mod options;
mod packets;

/// An IPv4 segment with a wrong checksum: 10.0.0.1:1000 to 10.0.0.2:80, ACK, `len` bytes of
/// payload.
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

fn content(link_type: u32, packet: Vec<u8>) -> Content {
    let [packet] = packets(&pcap(link_type, &[packet])).try_into().unwrap();
    packet.content
}

fn assert_examined(content: &Content, len: usize) {
    let Some(segment) = &content.segment else {
        panic!("{content:?}");
    };
    assert_eq!(segment.checksum, ChecksumState::Right, "{content:?}");
    assert_eq!((segment.len, segment.payload.len()), (len, len));
    assert_eq!(segment.source, "10.0.0.1:1000".parse().unwrap());
    assert_eq!(content.ip_checksum, ChecksumState::Right);
    assert_eq!((&content.skipped, &content.faults[..]), (&None, &[][..]));
}
