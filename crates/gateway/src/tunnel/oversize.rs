//! Handling of packets that are too long for their peer: fragmented if allowed, otherwise answered by ICMP.
//!
//! A device has a single MTU. If its packets are for peers with smaller path MTUs, the tunnel acts as a
//! router before a narrower link.

use ropewalk_quantities::Time;
use ropewalk_wire::{fragments, packet_too_big};

use super::rate_limiter::{ICMP, RateLimiter};
use super::super_packet::{PacketPool, Piece, SuperPacket, VNET_LEN};

#[derive(Debug)]
pub enum OversizeAction {
    Fragments(Vec<Piece>),
    /// Write this ICMP message to its source into the device.
    Reply(Vec<u8>),
    Drop,
}

#[derive(Debug, Default)]
pub struct Oversize {
    icmp: RateLimiter,
}

impl Oversize {
    /// Decides about a packet whose first piece is longer than `mtu`, and limits the rate of ICMP messages.
    /// All pieces of a super-packet are treated like the first.
    pub fn decide(
        &mut self,
        now: Time,
        packet: SuperPacket,
        mtu: u32,
        pool: &PacketPool,
    ) -> OversizeAction {
        let mut fragmented = Vec::new();
        for piece in packet.pieces() {
            let whole = piece.to_packet();
            let Some(parts) = fragments(&whole, mtu as usize) else {
                return self.answer(now, &whole, mtu);
            };
            let parts = parts
                .into_iter()
                .filter_map(|part| SuperPacket::parse([&[0; VNET_LEN][..], &part].concat(), pool));
            fragmented.extend(parts.flat_map(SuperPacket::pieces));
        }
        OversizeAction::Fragments(fragmented)
    }

    fn answer(&mut self, now: Time, packet: &[u8], mtu: u32) -> OversizeAction {
        let answer = packet_too_big(packet, mtu).filter(|_| self.icmp.take(now.as_nanos(), ICMP));
        answer.map_or(OversizeAction::Drop, |answer| {
            OversizeAction::Reply([&[0; VNET_LEN][..], &answer].concat())
        })
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_wire::{IpHeader, IpView, Packet, Transport, UdpHeader, protocol};

    use super::*;
    use crate::tunnel::super_packet::single_header;

    /// A datagram as the kernel passes it, with a partial checksum.
    fn datagram(len: usize, dont_fragment: bool) -> SuperPacket {
        let (source, destination) = ("192.0.2.1".parse().unwrap(), "10.9.0.2".parse().unwrap());
        let mut header = IpHeader::new(source, destination, protocol::UDP).unwrap();
        if let IpHeader::V4(header) = &mut header {
            header.dont_fragment = dont_fragment;
        }
        let mut packet = vec![0; len];
        header.emit(len - 20, &mut packet);
        packet[28..].fill(3);
        let ports = UdpHeader {
            source_port: 1,
            destination_port: 2,
        };
        let partial = !header.pseudo_header(len - 20).finish();
        packet[20..22].copy_from_slice(&ports.source_port.to_be_bytes());
        packet[22..24].copy_from_slice(&ports.destination_port.to_be_bytes());
        packet[24..26].copy_from_slice(&(len as u16 - 20).to_be_bytes());
        packet[26..28].copy_from_slice(&partial.to_be_bytes());
        let head = single_header(&packet, true);
        SuperPacket::parse([&head[..], &packet].concat(), &PacketPool::default()).unwrap()
    }

    #[test]
    fn decide_fragments_packets_with_valid_checksums() {
        let pool = PacketPool::default();
        let action = Oversize::default().decide(Time::ZERO, datagram(1428, false), 1332, &pool);
        let OversizeAction::Fragments(pieces) = action else {
            panic!("{action:?}");
        };
        let mut payload = Vec::new();
        for piece in &pieces {
            assert!(piece.len() <= 1332 && !piece.partial_checksum());
            let mut bytes = Vec::new();
            piece.emit(&mut bytes);
            payload.extend_from_slice(IpView::parse(&bytes).unwrap().payload());
        }
        let mut whole = datagram(1428, false).packet().to_vec();
        whole.truncate(20);
        whole.extend_from_slice(&payload);
        let whole = Packet::parse(&whole).unwrap();
        assert!(whole.checksums_are_right());
        assert!(matches!(whole.transport, Transport::Udp(udp) if udp.payload() == [3; 1400]));
    }

    #[test]
    fn decide_limits_the_rate_of_icmp_messages() {
        let (mut oversize, pool) = (Oversize::default(), PacketPool::default());
        let mut answers = |now| {
            let actions =
                [(); 200].map(|()| oversize.decide(now, datagram(1428, true), 1332, &pool));
            let answered = |action: &&OversizeAction| matches!(action, OversizeAction::Reply(_));
            actions.iter().filter(answered).count()
        };
        assert_eq!(answers(Time::ZERO), 51);
        assert_eq!(answers(Time::from_millis(10)), 10);
        assert_eq!(answers(Time::from_secs(1)), 51);
    }
}
