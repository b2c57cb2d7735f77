//! Flow of a packet, and its treatment by the tunnel.

use core::net::IpAddr;

use ropewalk_wire::{IpHeader, IpView, TcpFlags, TcpView, UdpHeader, protocol};

/// Treatment of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A SYN: in order, and in step with the slowest link in use.
    Opening,
    /// Data of a connection: as its SYN. Once it has been thin for some time: by the quickest link, in order
    /// only.
    InStep,
    /// In order within its flow, and delivered as soon as possible.
    Ordered,
    /// Delivered on arrival, and not retransmitted.
    Unordered,
    /// Urgent while its flow is thin, else in order. After a handshake ([`Class::Elastic`]), data of a connection.
    Thin,
    /// A handshake which shows that its UDP flow has congestion control inside: the flow is treated like a
    /// connection.
    Elastic,
    /// On the fastest link, before all others, without order.
    Urgent,
}

impl Class {
    /// Class of a TCP segment with these flags, and with data or without.
    ///
    /// Pure ACKs are cumulative: a later ACK supersedes a lost one, and a reordered ACK carries no new
    /// information (RFC 9293, section 3.10.7.4). Delivery in order would only prolong the round trip. A FIN
    /// or RST must not overtake the data.
    #[must_use]
    pub fn of_tcp(opens: bool, ends: bool, has_data: bool) -> Class {
        if opens {
            Class::Opening
        } else if has_data {
            Class::InStep
        } else if ends {
            Class::Ordered
        } else {
            Class::Unordered
        }
    }

    /// Class of a UDP datagram with this payload, which may be cut off.
    #[must_use]
    pub fn of_udp(payload: &[u8]) -> Class {
        match payload {
            // A long header with the fixed bit, of version 1 (RFC 9000, section 17.2) or 2 (RFC 9369).
            [0xc0..=0xff, 0, 0, 0, 1, ..] | [0xc0..=0xff, 0x6b, 0x33, 0x43, 0xcf, ..] => {
                Class::Elastic
            }
            // Handshake initiation or response of WireGuard.
            [1 | 2, 0, 0, 0, ..] if matches!(payload.len(), 148 | 92) => Class::Elastic,
            _ => Class::Thin,
        }
    }
}

/// Flow of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its lane: a hash of addresses, protocol and ports.
    pub lane: u8,
    /// Treatment of its packets.
    pub class: Class,
}

/// Least DSCP for low delay (RFC 4594): CS4 and above, and AF21, which ssh(1) sets for interactive sessions.
const MIN_URGENT_DSCP: u8 = 32;
const AF21: u8 = 18;

impl Flow {
    /// Flow of an IP packet, as far as it can be parsed.
    #[must_use]
    pub fn of(packet: &[u8]) -> Flow {
        let urgent = Flow {
            lane: 0,
            class: Class::Urgent,
        };
        let Ok(ip) = IpView::parse(packet) else {
            return urgent;
        };
        let transport = ip.payload();
        let has_ports = matches!(ip.protocol(), protocol::TCP | protocol::UDP) && !ip.is_fragment();
        let ports = match transport.get(..4) {
            Some(ports) if has_ports => ports,
            _ => &[],
        };
        let lane = lane(ip.source(), ip.destination(), ip.protocol(), ports);
        let dscp = match ip.header() {
            IpHeader::V4(header) => header.traffic_class >> 2,
            IpHeader::V6(header) => header.traffic_class >> 2,
        };
        let class = if ip.is_fragment() {
            Class::Ordered
        } else if dscp >= MIN_URGENT_DSCP || dscp == AF21 {
            Class::Urgent
        } else {
            match ip.protocol() {
                protocol::TCP => match TcpView::parse(transport) {
                    Ok(tcp) => {
                        let flags = tcp.header().flags;
                        let opens = flags.contains(TcpFlags::SYN);
                        let ends = flags.contains(TcpFlags::FIN) || flags.contains(TcpFlags::RST);
                        Class::of_tcp(opens, ends, !tcp.payload().is_empty())
                    }
                    Err(_) => Class::Ordered,
                },
                protocol::UDP => Class::of_udp(transport.get(UdpHeader::LEN..).unwrap_or(&[])),
                _ => Class::Urgent,
            }
        };
        Flow { lane, class }
    }
}

/// FNV-1a, folded to a byte; lane 0 is not used for flows.
fn lane(source: IpAddr, destination: IpAddr, protocol: u8, ports: &[u8]) -> u8 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for address in [source, destination] {
        match address {
            IpAddr::V4(address) => add(&address.octets()),
            IpAddr::V6(address) => add(&address.octets()),
        }
    }
    add(&[protocol]);
    add(ports);
    (hash ^ hash >> 32) as u32 as u8 % 255 + 1
}

#[cfg(test)]
mod tests {
    use core::net::Ipv4Addr;

    use ropewalk_wire::{Checksum, Ipv4Header, TcpHeader, UdpHeader};

    use super::*;

    const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn packet(protocol: u8, traffic_class: u8, transport: &[u8]) -> Vec<u8> {
        let header = Ipv4Header {
            source: CLIENT,
            destination: SERVER,
            identification: 0,
            dont_fragment: true,
            ttl: 64,
            protocol,
            traffic_class,
        };
        let mut packet = vec![0; Ipv4Header::LEN];
        header.emit(transport.len(), &mut packet);
        packet.extend_from_slice(transport);
        packet
    }

    fn tcp(source_port: u16, flags: TcpFlags, payload: usize) -> Vec<u8> {
        let header = TcpHeader {
            source_port,
            destination_port: 80,
            seq: 1,
            ack: 1,
            flags,
            window: 100,
            urgent: 0,
        };
        let mut segment = vec![0; TcpHeader::LEN + payload];
        header.emit(&[], Checksum::new(), &mut segment).unwrap();
        segment
    }

    #[test]
    fn tcp_data_are_in_step_and_pure_acks_unordered() {
        let class =
            |flags, payload| Flow::of(&packet(protocol::TCP, 0, &tcp(1000, flags, payload))).class;
        assert_eq!(class(TcpFlags::SYN, 0), Class::Opening);
        assert_eq!(class(TcpFlags::ACK, 100), Class::InStep);
        assert_eq!(class(TcpFlags::ACK, 0), Class::Unordered);
        assert_eq!(class(TcpFlags::RST, 0), Class::Ordered);
        assert_eq!(class(TcpFlags::FIN, 0), Class::Ordered);
    }

    #[test]
    fn marked_and_flowless_packets_are_urgent() {
        let data = tcp(1000, TcpFlags::ACK, 100);
        assert_eq!(
            Flow::of(&packet(protocol::TCP, AF21 << 2, &data)).class,
            Class::Urgent
        );
        assert_eq!(Flow::of(&packet(1, 0, &[8; 64])).class, Class::Urgent);
        assert_eq!(Flow::of(b"nothing").class, Class::Urgent);
        let mut datagram = vec![0; UdpHeader::LEN];
        UdpHeader {
            source_port: 1,
            destination_port: 53,
        }
        .emit(0, Checksum::new(), &mut datagram);
        assert_eq!(
            Flow::of(&packet(protocol::UDP, 0, &datagram)).class,
            Class::Thin
        );
    }

    #[test]
    fn handshakes_of_quic_and_wireguard_show_congestion_control() {
        let mut initial = vec![0xc3, 0, 0, 0, 1, 8];
        initial.resize(1200, 0);
        assert_eq!(Class::of_udp(&initial), Class::Elastic);
        initial[1..5].copy_from_slice(&[0x6b, 0x33, 0x43, 0xcf]);
        assert_eq!(Class::of_udp(&initial), Class::Elastic);
        // A short header, another version, and RTP.
        for first in [
            &[0x43, 0, 0, 0, 1][..],
            &[0xc3, 0, 0, 0, 9],
            &[0x80, 0, 0, 1],
        ] {
            assert_eq!(Class::of_udp(first), Class::Thin, "{first:?}");
        }
        let handshake = |kind, len| {
            let mut packet = vec![kind, 0, 0, 0];
            packet.resize(len, 7);
            Class::of_udp(&packet)
        };
        assert_eq!(handshake(1, 148), Class::Elastic);
        assert_eq!(handshake(2, 92), Class::Elastic);
        assert_eq!(handshake(4, 148), Class::Thin);
        assert_eq!(handshake(1, 147), Class::Thin);
        assert_eq!(Class::of_udp(&[]), Class::Thin);
    }

    #[test]
    fn a_connection_has_one_lane_and_connections_differ() {
        let lane = |port, payload| {
            Flow::of(&packet(
                protocol::TCP,
                0,
                &tcp(port, TcpFlags::ACK, payload),
            ))
            .lane
        };
        assert_eq!(lane(1000, 0), lane(1000, 700));
        let mut lanes: Vec<u8> = (1000..1100).map(|port| lane(port, 0)).collect();
        lanes.sort_unstable();
        lanes.dedup();
        assert!(lanes.len() > 60 && lanes[0] > 0, "{lanes:?}");
    }
}
