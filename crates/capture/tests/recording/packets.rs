//! Packets of a run in pcapng.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use ropewalk_capture::{ObservationPoint, PacketPlan, Plan, Recording};
use ropewalk_scenario::{Device, Scenario};
use ropewalk_simulator::{Options, Outcome, simulate, simulate_watched};
use ropewalk_wire::{IpHeader, Packet, TcpHeader, Transport};

use crate::{TWO_LINKS, scenario};

const BACKBONE: &str = r#"
duration = "20 s"
[[link]]
name = "wifi"
rate = "20 Mbit/s"
delay = "5 ms"
[[link]]
name = "backbone"
rate = "10 Mbit/s"
delay = "20 ms"
loss = "1 %"
queue = "20 packets"
[[path]]
name = "home"
hops = ["wifi", "backbone"]
[traffic]
kind = "bulk"
size = "1 MB"
[[competitor]]
path = "backbone"
"#;

struct Captured {
    interface: u32,
    time_ns: u128,
    bytes: Vec<u8>,
    original_len: u32,
    comment: Option<String>,
}

impl Captured {
    fn tcp(&self) -> TcpHeader {
        let packet = Packet::parse(&self.bytes).expect("a packet");
        match packet.transport {
            Transport::Tcp(view) => view.header(),
            other => panic!("not TCP: {other:?}"),
        }
    }

    fn is_from_client(&self) -> bool {
        self.tcp().source_port != 50_000
    }

    fn identification(&self) -> (bool, u16) {
        match Packet::parse(&self.bytes).expect("a packet").ip.header() {
            IpHeader::V4(header) => (self.is_from_client(), header.identification),
            IpHeader::V6(_) => panic!("IPv4 was asked for"),
        }
    }
}

fn capture(scenario: &Scenario, place: &str, snaplen: Option<u32>) -> (Outcome, Vec<Captured>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("run.pcapng");
    let plan = Plan {
        packets: Some(PacketPlan {
            path: path.clone(),
            place: ObservationPoint::parse(place, scenario).expect("a place"),
            snaplen,
        }),
        qlog: None,
    };
    let mut recording = Recording::create(&plan, scenario, 1).expect("a new file");
    let outcome = simulate_watched(scenario, 1, &Options::default(), &mut recording);
    let count = recording
        .finish()
        .expect("a file")
        .expect("packets were wanted");
    let packets = read(&path);
    assert_eq!(count, packets.len() as u64);
    (outcome.expect("what the simulator has"), packets)
}

fn read(path: &Path) -> Vec<Captured> {
    let mut reader = PcapNgReader::new(File::open(path).expect("the capture")).expect("pcapng");
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a block") {
            packets.push(Captured {
                interface: packet.interface_id,
                time_ns: packet.timestamp.as_nanos(),
                bytes: packet.data.to_vec(),
                original_len: packet.original_len,
                comment: packet.options.iter().find_map(|option| match option {
                    EnhancedPacketOption::Comment(text) => Some(text.to_string()),
                    _ => None,
                }),
            });
        }
    }
    packets
}

fn with_comment<'a>(
    packets: &'a [Captured],
    beginning: &'a str,
) -> impl Iterator<Item = &'a Captured> {
    packets.iter().filter(move |packet| {
        packet
            .comment
            .as_ref()
            .is_some_and(|comment| comment.starts_with(beginning))
    })
}

#[test]
fn capture_does_not_change_results() {
    let aggregated = [("transport.protocol", "aggregation")];
    for (text, changes) in [
        (TWO_LINKS, &[][..]),
        (BACKBONE, &[]),
        (TWO_LINKS, &aggregated),
    ] {
        let scenario = scenario(text, changes);
        let unwatched = simulate(&scenario, 1, &Options::default()).expect("a run");
        for place in ["sender", "receiver", "wifi"] {
            assert_eq!(capture(&scenario, place, None).0, unwatched);
        }
    }
}

#[test]
fn every_packet_is_right_and_in_order_of_time() {
    for changes in [
        &[][..],
        &[("transport.ip_version", "ipv6")],
        &[("transport.checksum", "true")],
        &[
            ("transport.timestamps", "false"),
            ("transport.sack", "false"),
        ],
        &[("transport.protocol", "tcp")],
        &[("transport.initial_sequence_number", "4294900000")],
        &[("transport.protocol", "striped-tcp")],
        &[("transport.protocol", "aggregation")],
        &[("transport.protocol", "udp")],
        &[
            ("transport.protocol", "gateway"),
            ("transport.carries", "quic"),
        ],
        &[
            ("transport.protocol", "gateway"),
            ("transport.carries", "udp"),
            ("traffic", "{ kind = 'cbr', rate = '4 Mbit/s' }"),
        ],
    ] {
        let scenario = scenario(TWO_LINKS, changes);
        let (outcome, packets) = capture(&scenario, "sender", None);
        assert!(packets.len() > 1000, "{changes:?}");
        assert!(packets.is_sorted_by_key(|packet| packet.time_ns));
        for packet in &packets {
            let parsed = Packet::parse(&packet.bytes).expect("a packet");
            assert!(parsed.checksums_are_right());
            if let Transport::Udp(outside) = parsed.transport
                && outside.header().destination_port != 50_000
            {
                let inside = Packet::parse(outside.payload()).expect("a packet in a packet");
                assert!(inside.checksums_are_right());
            }
        }
        // The file has the packets that entered the links, with the links' byte counts.
        for (number, link) in outcome.summary.links.iter().enumerate() {
            let sent = |packet: &&Captured| {
                packet.interface == number as u32
                    && packet.time_ns <= end_ns(&outcome)
                    && !inbound(packet)
            };
            let entered = packets.iter().filter(sent).count() as u64;
            let offered = link.sent_packets + link.dropped_packets;
            match scenario.measured_flow().protocol.device() {
                // A tunnel's own datagrams, and further packets in a datagram, are not shown.
                Some(device) if device.kind == Device::Tunnel => assert!(entered < offered),
                _ => assert_eq!(entered, offered, "{changes:?}"),
            }
        }
    }
}

fn end_ns(outcome: &Outcome) -> u128 {
    946_684_800_000_000_000 + (outcome.summary.duration_s * 1e9).round() as u128
}

/// Whether it is from the server, by the innermost ports.
fn inbound(packet: &Captured) -> bool {
    let outer = Packet::parse(&packet.bytes).expect("a packet");
    let header = match outer.transport {
        Transport::Udp(datagram) if datagram.header().destination_port == 50_000 => return false,
        Transport::Udp(outside) => {
            let inside = Packet::parse(outside.payload()).expect("a packet in a packet");
            match inside.transport {
                Transport::Tcp(view) => view.header(),
                // Datagrams go one way.
                Transport::Udp(_) => return false,
                other => panic!("neither TCP nor UDP: {other:?}"),
            }
        }
        Transport::Tcp(view) => view.header(),
        other => panic!("neither TCP nor UDP: {other:?}"),
    };
    header.source_port == 50_000
}

#[test]
fn comments_show_packet_fate() {
    let scenario = scenario(TWO_LINKS, &[]);
    let (outcome, packets) = capture(&scenario, "sender", None);
    let before_end = |packet: &&Captured| packet.time_ns <= end_ns(&outcome);
    let count = |beginning| with_comment(&packets, beginning).filter(before_end).count() as u64;
    let wifi = &outcome.summary.links[0];
    assert!(
        wifi.lost_packets > 0 && wifi.dropped_packets > 0,
        "{wifi:?}"
    );
    assert_eq!(count("lost on wifi"), wifi.lost_packets);
    assert_eq!(
        count("dropped: the queue of wifi was full"),
        wifi.dropped_packets
    );
    assert_eq!(count("lost on lte"), 0);
    let spurious: u64 = outcome
        .summary
        .subflows
        .iter()
        .map(|subflow| subflow.spurious_retransmissions)
        .sum();
    assert_eq!(count("spurious"), spurious);
}

#[test]
fn remote_loss_is_marked_at_sender() {
    let scenario = scenario(BACKBONE, &[]);
    let (outcome, packets) = capture(&scenario, "sender", None);
    let lost = with_comment(&packets, "lost on backbone").count();
    let dropped = with_comment(&packets, "dropped: the queue of backbone was full").count();
    assert!(lost > 0 && dropped > 0);
    let backbone = &outcome.summary.links[1];
    assert!((lost as u64) < backbone.lost_packets);
    assert!(packets.iter().all(|packet| packet.interface == 0));
}

#[test]
fn link_capture_has_all_flows() {
    let scenario = scenario(BACKBONE, &[]);
    let (_, packets) = capture(&scenario, "backbone", None);
    let clients: std::collections::HashSet<_> = packets
        .iter()
        .filter(|packet| packet.is_from_client())
        .map(|packet| Packet::parse(&packet.bytes).expect("a packet").ip.source())
        .collect();
    assert_eq!(clients.len(), 2);
    for place in ["sender", "receiver", "wifi"] {
        let (_, packets) = capture(&scenario, place, None);
        let ours = |packet: &Captured| {
            let ip = Packet::parse(&packet.bytes).expect("a packet").ip;
            [ip.source(), ip.destination()].contains(&"10.0.0.1".parse().expect("an address"))
        };
        assert!(packets.iter().all(ours), "{place}");
    }
}

/// The flow of each packet is visible in the packet.
#[test]
fn flows_have_distinct_addresses() {
    let text = format!(
        "{TWO_LINKS}[[flow]]\nname = 'aggregated'\nprotocol = 'aggregation'\ncount = 2\n\
         [[flow]]\nname = 'striped'\nprotocol = 'striped-tcp'\ncount = 2\n\
         [[competitor]]\nprotocol = 'aggregation'\ntraffic = {{ kind = 'cbr', rate = '1mbit' }}\n"
    );
    let scenario = scenario(&text, &[("duration", "3 s")]);
    let (_, packets) = capture(&scenario, "wifi", None);
    let mut connections: HashMap<_, usize> = HashMap::new();
    for packet in &packets {
        let outside = Packet::parse(&packet.bytes).expect("a packet");
        let inside = match outside.transport {
            Transport::Udp(view) => Packet::parse(view.payload()).expect("a packet inside"),
            _ => outside,
        };
        let mut ends = [inside.ip.source(), inside.ip.destination()];
        ends.sort();
        *connections.entry(ends).or_default() += 1;
    }
    let told = |server: &str| {
        let server: std::net::IpAddr = server.parse().expect("an address");
        let mut of = connections
            .iter()
            .filter(|(ends, _)| ends.contains(&server));
        of.next().map_or(0, |(_, packets)| *packets)
    };
    // The measured flow, both aggregated and both striped flows, the competitor.
    for server in [
        "172.16.0.1",
        "172.16.0.2",
        "172.16.0.3",
        "192.168.0.8",
        "192.168.0.10",
        "172.16.0.6",
    ] {
        assert!(told(server) > 10, "{server}: {connections:?}");
    }
    assert_eq!(connections.len(), 6, "{connections:?}");
}

#[test]
fn packet_bytes_equal_at_both_ends() {
    let scenario = scenario(TWO_LINKS, &[]);
    let (_, sent) = capture(&scenario, "sender", None);
    let (_, received) = capture(&scenario, "receiver", None);
    let mut at_sender = HashMap::new();
    for packet in sent.iter().filter(|packet| packet.is_from_client()) {
        at_sender.insert(packet.identification(), packet);
    }
    let mut matched = 0;
    for packet in received.iter().filter(|packet| packet.is_from_client()) {
        let before = at_sender[&packet.identification()];
        assert_eq!(before.bytes, packet.bytes);
        assert!(before.time_ns < packet.time_ns);
        let lost = |comment: &str| comment.starts_with("lost") || comment.starts_with("dropped");
        assert!(!before.comment.as_deref().is_some_and(lost));
        matched += 1;
    }
    let gone = with_comment(&sent, "lost").count() + with_comment(&sent, "dropped").count();
    let in_flight = with_comment(&sent, "in flight").count();
    assert_eq!(matched + gone + in_flight, at_sender.len());
    assert!(matched > 1000);
}

#[test]
fn snaplen_cuts_bytes_but_not_length() {
    let scenario = scenario(TWO_LINKS, &[]);
    let (_, whole) = capture(&scenario, "sender", None);
    let (_, cut) = capture(&scenario, "sender", Some(100));
    assert_eq!(whole.len(), cut.len());
    for (whole, cut) in whole.iter().zip(&cut) {
        assert_eq!(cut.bytes, whole.bytes[..whole.bytes.len().min(100)]);
        assert_eq!(cut.original_len, whole.original_len);
    }
}
