//! Lengths of datagrams, and sharing of a datagram by packets.

use ropewalk_wire::gateway::TAG_LEN;
use ropewalk_wire::gateway::tunnel::{Feedback, TunnelFrame, TunnelHeader};

/// Bytes around the frames of an encrypted datagram: the tunnel's header, the clock, and the authentication
/// tag.
pub const DATAGRAM_OVERHEAD: u32 = (TunnelHeader::LEN + TunnelFrame::CLOCK_LEN + TAG_LEN) as u32;
/// Overhead of a datagram with one whole packet, after the headers of IP and UDP.
pub const SINGLE_PACKET_OVERHEAD: u32 = TunnelFrame::ENVELOPE_LEN as u32;
/// Overhead of a shared datagram; IPv6 is assumed, to be safe.
const RESERVED: u32 = IPV6_UDP_LEN + DATAGRAM_OVERHEAD;
/// RFC 8200, section 3, and RFC 768.
const IPV6_UDP_LEN: u32 = 40 + 8;
const PACKET_OVERHEAD: u32 = TunnelFrame::PACKET_OVERHEAD as u32;

/// Lengths of encrypted datagrams in bytes, from the IP header on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatagramLengths {
    outside: u32,
}

impl DatagramLengths {
    /// Lengths with IP and UDP headers of `outside` bytes.
    #[must_use]
    pub fn behind(outside: u32) -> DatagramLengths {
        DatagramLengths { outside }
    }

    /// Returns the length of a datagram with a single packet.
    #[must_use]
    pub fn packet(self, bytes: u32) -> u32 {
        self.outside + SINGLE_PACKET_OVERHEAD + bytes
    }

    /// Returns the length of a datagram with `count` packets, of `bytes` bytes together.
    #[must_use]
    pub fn packets(self, count: u32, bytes: u32) -> u32 {
        self.outside + DATAGRAM_OVERHEAD + PACKET_OVERHEAD * count + bytes
    }

    /// Returns the length of a datagram with feedback about a link.
    #[must_use]
    pub fn feedback(self, feedback: &Feedback) -> u32 {
        self.outside + DATAGRAM_OVERHEAD + feedback.frame_len() as u32
    }

    /// Returns the length of a datagram with an unpadded ping, or a pong.
    #[must_use]
    pub fn ping(self) -> u32 {
        self.outside + DATAGRAM_OVERHEAD + TunnelFrame::PING_LEN as u32
    }

    /// Returns the length of a datagram with the terms of a link.
    #[must_use]
    pub fn terms(self) -> u32 {
        self.outside + DATAGRAM_OVERHEAD + TunnelFrame::TERMS_LEN as u32
    }

    /// Returns the length of a datagram that acknowledges terms.
    #[must_use]
    pub fn terms_seen(self) -> u32 {
        self.outside + DATAGRAM_OVERHEAD + TunnelFrame::TERMS_SEEN_LEN as u32
    }
}

/// A datagram shared by short packets; a long packet has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedDatagram {
    room: u32,
}

impl SharedDatagram {
    /// Begins a datagram with a packet of `bytes` bytes, on a link with this confirmed path MTU; `None` if
    /// the packet is too long to share one.
    #[must_use]
    pub fn begin(path_mtu: u32, bytes: u32) -> Option<SharedDatagram> {
        let room = path_mtu.saturating_sub(RESERVED);
        (bytes + PACKET_OVERHEAD * 2 <= room / 2).then_some(SharedDatagram { room })
    }

    /// Adds a packet of `bytes` bytes; returns the limit of the next one's length.
    pub fn put(&mut self, bytes: u32) -> u32 {
        self.room = self.room.saturating_sub(bytes + PACKET_OVERHEAD);
        self.room.saturating_sub(PACKET_OVERHEAD)
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_wire::gateway::tunnel::{Delivery, Gap, Sequencing};

    use super::*;

    #[test]
    fn packet_shares_datagram_if_two_of_its_length_fit() {
        let most = (1400 - RESERVED) / 2 - 2 * PACKET_OVERHEAD;
        assert!(SharedDatagram::begin(1400, most).is_some());
        assert_eq!(SharedDatagram::begin(1400, most + 1), None);
    }

    #[test]
    fn lengths_equal_emitted_datagrams() {
        let emitted = |frame: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            frame(&mut out);
            28 + DATAGRAM_OVERHEAD + out.len() as u32
        };
        let sequencing = Sequencing {
            lane: 1,
            sequence: 2,
            delivery: Delivery::InOrder,
        };
        let mut feedback = Feedback::default();
        for _ in 0..3 {
            assert!(feedback.missing.push(Gap::default()));
        }
        let packet = TunnelFrame::Packet {
            sequencing,
            partial_checksum: false,
            bytes: &[0; 52],
        };
        let lengths = DatagramLengths::behind(28);
        let alone = |out: &mut Vec<u8>| {
            TunnelFrame::emit_packet_head(sequencing, false, None, out);
            out.extend_from_slice(&[0; 1432]);
        };
        assert_eq!(lengths.packet(1432), emitted(&alone));
        assert_eq!(lengths.packet(1432), 1500);
        let two = |out: &mut Vec<u8>| (0..2).for_each(|_| packet.emit(out));
        assert_eq!(lengths.packets(2, 104), emitted(&two));
        assert_eq!(
            lengths.feedback(&feedback),
            emitted(&|out| TunnelFrame::Feedback(feedback).emit(out))
        );
        let pings = [TunnelFrame::Ping(1), TunnelFrame::Pong(1)];
        for ping in pings {
            assert_eq!(lengths.ping(), emitted(&|out| ping.emit(out)));
        }
    }

    #[test]
    fn short_packets_share_a_datagram_as_long_as_the_link_carries_it() {
        assert_eq!(SharedDatagram::begin(1500, 1432), None);
        let mut shared = SharedDatagram::begin(1500, 52).unwrap();
        let (mut count, mut next) = (0, u32::MAX);
        while next >= 52 {
            next = shared.put(52);
            count += 1;
        }
        let longest = DatagramLengths::behind(IPV6_UDP_LEN).packets(count, 52 * count);
        assert!((1500 - 60..=1500).contains(&longest), "{longest}");
    }
}
