//! Packets of Linux, parsed and emitted again.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use ropewalk_transport::{Flags, Segment};
use ropewalk_wire::{
    Checksum, Connection, InitialNumbers, MptcpOption, Packet, Side, TcpFlags, TcpHeader,
    TcpOption, TcpView, Transport, options_len, payload,
};

#[test]
fn a_connection_of_linux_reads_as_segments_that_are_written_the_same() {
    for (name, checksums) in [
        ("linux-mptcp.pcap", false),
        ("linux-mptcp-checksums.pcap", true),
    ] {
        let bytes = capture(name);
        let mut read = Reading::default();
        for packet in packets(&bytes) {
            let packet = Packet::parse(packet).expect("a packet of Linux");
            assert!(packet.checksums_are_right());
            let Transport::Tcp(view) = packet.transport else {
                panic!("not TCP: {packet:?}");
            };
            read.packet(
                packet.ip.source(),
                packet.ip.destination(),
                &view,
                checksums,
            );
        }
        assert_eq!(read.subflows.len(), 3);
        assert_eq!((read.delivered, read.data_fins), (12_800, 8));
        // Excluded: ADD_ADDR and its echo, which segments do not have, and shared mappings.
        assert_eq!((read.packets, read.same), (56, 56 - 2 - 9), "{name}");
    }
}

#[derive(Default)]
struct Reading {
    connection: Connection,
    /// Client and server of each subflow.
    subflows: Vec<[SocketAddr; 2]>,
    delivered: u64,
    data_fins: u32,
    packets: u32,
    same: u32,
}

impl Reading {
    fn packet(&mut self, source: IpAddr, destination: IpAddr, view: &TcpView<'_>, checksums: bool) {
        let header = view.header();
        let source = SocketAddr::new(source, header.source_port);
        let destination = SocketAddr::new(destination, header.destination_port);
        let (subflow, from) = match self.subflow_of(source, destination) {
            Some(found) => found,
            None => {
                assert_eq!(header.flags, TcpFlags::SYN);
                self.subflows.push([source, destination]);
                let start = |address_id| InitialNumbers {
                    address_id,
                    ..InitialNumbers::default()
                };
                // The client joins from its second address, to the server's second and first.
                let number = self.subflows.len() - 1;
                let ids = [[0, 0], [1, 1], [1, 0]][number];
                (
                    self.connection.add_subflow(start(ids[0]), start(ids[1])),
                    Side::Client,
                )
            }
        };
        let segment = self
            .connection
            .parse(from, subflow, view)
            .expect("a segment of Linux");
        if segment.is_mapped() {
            assert_eq!(
                segment.flags.contains(Flags::CHECKSUM),
                checksums && has_mapping(view)
            );
        }
        if segment.len > 0 {
            assert_eq!(
                payload::first_difference(segment.data_seq, view.payload()),
                None
            );
            self.delivered = self
                .delivered
                .max(segment.data_seq + u64::from(segment.len));
        }
        self.data_fins += u32::from(segment.flags.contains(Flags::DATA_FIN));
        self.packets += 1;
        self.same += u32::from(self.written(from, subflow, &segment, view) == without_push(view));
    }

    fn subflow_of(&self, source: SocketAddr, destination: SocketAddr) -> Option<(usize, Side)> {
        self.subflows
            .iter()
            .enumerate()
            .find_map(|(subflow, ends)| {
                if *ends == [source, destination] {
                    Some((subflow, Side::Client))
                } else {
                    (*ends == [destination, source]).then_some((subflow, Side::Server))
                }
            })
    }

    fn written(
        &mut self,
        from: Side,
        subflow: usize,
        segment: &Segment,
        view: &TcpView<'_>,
    ) -> Vec<u8> {
        let sum = Checksum::new().add_bytes(view.payload());
        let wire = self.connection.emit(from, subflow, segment, sum);
        let header = view.header();
        let mut bytes = vec![0; TcpHeader::LEN + options_len(wire.options())];
        wire.header(header.source_port, header.destination_port)
            .emit(wire.options(), Checksum::new(), &mut bytes)
            .expect("40 bytes at most");
        bytes[16..18].fill(0);
        bytes
    }
}

fn has_mapping(view: &TcpView<'_>) -> bool {
    view.options().flatten().any(|option| {
        matches!(option, TcpOption::Multipath(MptcpOption::Dss(dss)) if dss.mapping.is_some())
            || matches!(option, TcpOption::Multipath(MptcpOption::Capable(_)))
    })
}

/// Header and options without PUSH, which segments do not have, and without the checksum.
fn without_push(view: &TcpView<'_>) -> Vec<u8> {
    let mut bytes = view.as_bytes()[..view.header_len()].to_vec();
    bytes[13] &= !TcpFlags::PSH.bits();
    bytes[16..18].fill(0);
    bytes
}

fn capture(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference");
    fs::read(folder.join(name)).expect(name)
}

/// The packets of a classic pcap file, little-endian.
fn packets(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = &file[24..];
    std::iter::from_fn(move || {
        let (header, after) = rest.split_at_checked(16)?;
        let len = u32::from_le_bytes(header[8..12].try_into().expect("four bytes"));
        let (packet, after) = after.split_at(len as usize);
        rest = after;
        Some(packet)
    })
}
