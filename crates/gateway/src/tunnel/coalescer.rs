//! Combines consecutive segments of a connection into a super-packet for the device (GRO).

use super::super_packet::{VNET_LEN, set_lengths, single_header, super_header};

const MAX_IP_LEN: usize = 65_535;
const FLAGS: usize = 13;
const ACK: u8 = 0x10;
const PSH: u8 = 0x08;

/// Takes packets in order, and outputs single packets and super-packets for the device.
#[derive(Debug, Default)]
pub struct Coalescer {
    /// Space for a virtio-net header, then the packet.
    buffer: Vec<u8>,
    open: Option<OpenPacket>,
}

#[derive(Clone, Copy, Debug)]
struct OpenPacket {
    ip_len: usize,
    header_len: usize,
    ipv4: bool,
    payload: usize,
    segments: usize,
    /// Sequence number that the next segment must have.
    next: u32,
    /// No segment may follow, since the last had PSH or was shorter.
    closed: bool,
}

impl Coalescer {
    /// Adds a packet. Calls `write` with each super-packet that cannot grow any more.
    pub fn push(&mut self, packet: &[u8], partial_checksum: bool, mut write: impl FnMut(&[u8])) {
        let Some(segment) = TcpSegment::parse(packet).filter(|_| partial_checksum) else {
            self.flush(&mut write);
            self.buffer.clear();
            self.buffer
                .extend_from_slice(&single_header(packet, partial_checksum));
            self.buffer.extend_from_slice(packet);
            write(&self.buffer);
            return;
        };
        if let Some(open) = &mut self.open {
            let first = &self.buffer[VNET_LEN..];
            if open.accepts(first, &segment, packet) {
                self.buffer.extend_from_slice(&packet[segment.header_len..]);
                self.buffer[VNET_LEN + open.ip_len + FLAGS] |= segment.flags(packet) & PSH;
                open.next = open.next.wrapping_add(segment.payload as u32);
                open.segments += 1;
                open.closed = segment.payload < open.payload || segment.flags(packet) & PSH != 0;
                return;
            }
        }
        self.flush(&mut write);
        self.buffer.clear();
        self.buffer.extend_from_slice(&[0; VNET_LEN]);
        self.buffer.extend_from_slice(packet);
        self.open = Some(OpenPacket {
            ip_len: segment.ip_len,
            header_len: segment.header_len,
            ipv4: segment.ipv4,
            payload: segment.payload,
            segments: 1,
            next: segment.sequence.wrapping_add(segment.payload as u32),
            closed: segment.flags(packet) & PSH != 0,
        });
    }

    pub fn flush(&mut self, mut write: impl FnMut(&[u8])) {
        let Some(open) = self.open.take() else {
            return;
        };
        let (vnet, packet) = self.buffer.split_at_mut(VNET_LEN);
        if open.segments == 1 {
            vnet.copy_from_slice(&single_header(packet, true));
        } else {
            let len = packet.len();
            set_lengths(
                &mut packet[..open.header_len],
                open.ip_len,
                open.ipv4,
                len,
                0,
            );
            let header = super_header(open.ip_len, open.header_len, open.payload, open.ipv4);
            vnet.copy_from_slice(&header);
        }
        write(&self.buffer);
    }
}

impl OpenPacket {
    /// Returns whether the segment follows directly, with equal values in the other header fields.
    fn accepts(&self, first: &[u8], segment: &TcpSegment, packet: &[u8]) -> bool {
        if self.closed
            || segment.sequence != self.next
            || segment.ipv4 != self.ipv4
            || segment.ip_len != self.ip_len
            || segment.header_len != self.header_len
            || segment.payload > self.payload
            || first.len() + segment.payload > MAX_IP_LEN
        {
            return false;
        }
        let tcp = self.ip_len;
        let same_ip = if self.ipv4 {
            first[..2] == packet[..2]
                && first[6..10] == packet[6..10]
                && first[12..20] == packet[12..20]
        } else {
            first[..4] == packet[..4] && first[6..40] == packet[6..40]
        };
        // Equal: ports; acknowledgement number and data offset; window; urgent pointer and options.
        same_ip
            && first[tcp..tcp + 4] == packet[tcp..tcp + 4]
            && first[tcp + 8..tcp + 13] == packet[tcp + 8..tcp + 13]
            && first[tcp + 14..tcp + 16] == packet[tcp + 14..tcp + 16]
            && first[tcp + 18..self.header_len] == packet[tcp + 18..self.header_len]
    }
}

/// A TCP segment that can be part of a super-packet.
struct TcpSegment {
    ip_len: usize,
    header_len: usize,
    ipv4: bool,
    payload: usize,
    sequence: u32,
}

impl TcpSegment {
    /// Parses a segment with data and no flags but ACK and PSH, in an IP packet without options or fragmentation.
    fn parse(packet: &[u8]) -> Option<TcpSegment> {
        let ipv4 = match packet.first()? {
            0x45 => true,
            first if first >> 4 == 6 => false,
            _ => return None,
        };
        let ip_len = if ipv4 { 20 } else { 40 };
        let tcp = packet.get(ip_len..ip_len + 20)?;
        let (len, protocol, fragment) = if ipv4 {
            let fragment = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff != 0;
            (
                usize::from(u16::from_be_bytes([packet[2], packet[3]])),
                packet[9],
                fragment,
            )
        } else {
            (
                40 + usize::from(u16::from_be_bytes([packet[4], packet[5]])),
                packet[6],
                false,
            )
        };
        let header_len = ip_len + usize::from(tcp[12] >> 4) * 4;
        let whole = len == packet.len() && header_len >= ip_len + 20 && header_len < len;
        let plain = tcp[FLAGS] & !PSH == ACK;
        (protocol == 6 && !fragment && whole && plain).then(|| TcpSegment {
            ip_len,
            header_len,
            ipv4,
            payload: len - header_len,
            sequence: u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
        })
    }

    fn flags(&self, packet: &[u8]) -> u8 {
        packet[self.ip_len + FLAGS]
    }
}

#[cfg(test)]
mod tests {
    use super::super::super_packet::{PacketPool, SuperPacket, super_header};
    use super::*;

    /// Builds a super-packet of the device with `total` bytes of payload, `payload` in each segment.
    fn whole(total: usize, payload: usize) -> Vec<u8> {
        let mut packet = vec![0; 52 + total];
        packet[0] = 0x45;
        packet[6] = 0x40;
        packet[8] = 64;
        packet[9] = 6;
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        packet[32] = 0x80;
        packet[33] = ACK | PSH;
        for (number, byte) in packet[52..].iter_mut().enumerate() {
            *byte = number as u8;
        }
        let len = packet.len();
        set_lengths(&mut packet[..52], 20, true, len, 0);
        [&super_header(20, 52, payload, true)[..], &packet].concat()
    }

    #[test]
    fn coalesced_pieces_equal_the_super_packet() {
        for (total, payload) in [(5000, 1380), (2760, 1380), (1381, 1380), (60_000, 1380)] {
            let whole = whole(total, payload);
            let pieces: Vec<_> = SuperPacket::parse(whole.clone(), &PacketPool::default())
                .unwrap()
                .pieces()
                .collect();
            assert_eq!(pieces.len(), total.div_ceil(payload));
            let (mut coalescer, mut written) = (Coalescer::default(), Vec::new());
            for piece in pieces {
                let mut packet = Vec::new();
                piece.emit(&mut packet);
                assert_eq!(packet.len(), piece.len());
                coalescer.push(&packet, true, |bytes| written.push(bytes.to_vec()));
            }
            coalescer.flush(|bytes| written.push(bytes.to_vec()));
            assert!(written == [whole], "{total}");
        }
    }

    #[test]
    fn segment_that_does_not_follow_is_written_alone() {
        let mut packets: Vec<Vec<u8>> = Vec::new();
        for piece in SuperPacket::parse(whole(4000, 1000), &PacketPool::default())
            .unwrap()
            .pieces()
        {
            let mut packet = Vec::new();
            piece.emit(&mut packet);
            packets.push(packet);
        }
        packets.remove(1);
        let (mut coalescer, mut written) = (Coalescer::default(), Vec::new());
        for packet in &packets {
            coalescer.push(packet, true, |bytes| written.push(bytes.len()));
        }
        coalescer.flush(|bytes| written.push(bytes.len()));
        let header = VNET_LEN + 52;
        assert_eq!(written, [header + 1000, header + 2000]);
    }
}
