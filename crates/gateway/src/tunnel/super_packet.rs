//! Packets of the device: single ones, or super-packets of many TCP segments (TSO).

use std::cell::{Cell, RefCell};
use std::mem;
use std::rc::Rc;

use ropewalk_wire::{Checksum, IpView, Ipv4Header};

/// Length of struct virtio_net_hdr, the first virtio-net header (include/uapi/linux/virtio_net.h).
pub const VNET_LEN: usize = 10;
pub const MAX_LEN: usize = VNET_LEN + 65_535;

const NEEDS_CHECKSUM: u8 = 1;
const GSO_NONE: u8 = 0;
const GSO_TCP4: u8 = 1;
const GSO_TCP6: u8 = 4;
/// Explicit congestion notification, a flag of the segmentation type.
const GSO_ECN: u8 = 0x80;

/// Offsets in a TCP header.
const SEQUENCE: usize = 4;
const DATA_OFFSET: usize = 12;
const FLAGS: usize = 13;
pub(super) const TCP_CHECKSUM: usize = 16;
const FIN_PSH: u8 = 0x09;
const CWR: u8 = 0x80;

/// A packet of the device, preceded by its virtio-net header.
#[derive(Debug)]
pub struct SuperPacket {
    bytes: Vec<u8>,
    partial_checksum: bool,
    /// Its segmentation; `None` for a single packet.
    segments: Option<Segments>,
    pool: PacketPool,
}

/// A pool of buffers for super-packets: freshly allocated memory costs a page fault every 4 KiB.
#[derive(Clone, Debug, Default)]
pub struct PacketPool(Rc<PoolBuffers>);

#[derive(Debug, Default)]
struct PoolBuffers {
    kept: RefCell<Vec<Vec<u8>>>,
    used: Cell<usize>,
}

impl PacketPool {
    /// Largest number of free buffers: as many as are in use at once on a fast machine.
    const MAX: usize = 64;
    /// Number of buffers in use above which packets are copied out. A queued packet keeps the buffer of its
    /// whole super-packet, and the peer decides how long.
    const MAX_USED: usize = 256;

    /// Returns an empty buffer for the longest packet.
    #[must_use]
    pub fn take(&self) -> Vec<u8> {
        let mut bytes = self.0.kept.borrow_mut().pop().unwrap_or_default();
        bytes.clear();
        bytes.reserve(MAX_LEN);
        bytes
    }

    /// Returns a buffer to the pool, unless the pool is full.
    pub fn recycle(&self, bytes: Vec<u8>) {
        let mut kept = self.0.kept.borrow_mut();
        if bytes.capacity() >= MAX_LEN && kept.len() < PacketPool::MAX {
            kept.push(bytes);
        }
    }
}

impl Drop for SuperPacket {
    fn drop(&mut self) {
        if self.is_large() {
            self.pool.0.used.set(self.pool.0.used.get() - 1);
        }
        self.pool.recycle(mem::take(&mut self.bytes));
    }
}

#[derive(Clone, Copy, Debug)]
struct Segments {
    /// Length of the IP header, and of the IP and TCP headers together.
    ip_len: usize,
    header_len: usize,
    payload: usize,
    ipv4: bool,
}

#[derive(Clone, Debug)]
pub struct Piece {
    whole: Rc<SuperPacket>,
    number: usize,
}

impl SuperPacket {
    /// Parses a packet read from the device; `None` if it is invalid.
    #[must_use]
    pub fn parse(bytes: Vec<u8>, pool: &PacketPool) -> Option<SuperPacket> {
        let packet = bytes.get(VNET_LEN..).filter(|packet| !packet.is_empty())?;
        let partial_checksum = bytes[0] & NEEDS_CHECKSUM != 0;
        let segments = match bytes[1] & !GSO_ECN {
            GSO_NONE => None,
            GSO_TCP4 | GSO_TCP6 => {
                let ipv4 = packet[0] >> 4 == 4;
                let ip_len = usize::from(u16::from_le_bytes([bytes[6], bytes[7]]));
                let offset = *packet.get(ip_len + DATA_OFFSET)?;
                let header_len = ip_len + usize::from(offset >> 4) * 4;
                let payload = usize::from(u16::from_le_bytes([bytes[4], bytes[5]]));
                let least = if ipv4 { Ipv4Header::LEN } else { 40 };
                let sane = payload > 0
                    && ip_len >= least
                    && header_len >= ip_len + 20
                    && header_len < packet.len();
                Some(Segments {
                    ip_len,
                    header_len,
                    payload,
                    ipv4,
                })
                .filter(|_| sane && partial_checksum)
                .map(Some)?
            }
            _ => return None,
        };
        let packet = SuperPacket {
            partial_checksum,
            segments,
            bytes,
            pool: pool.clone(),
        };
        if packet.is_large() {
            pool.0.used.set(pool.0.used.get() + 1);
        }
        Some(packet)
    }

    fn is_large(&self) -> bool {
        self.bytes.capacity() >= MAX_LEN
    }

    #[must_use]
    pub fn packet(&self) -> &[u8] {
        &self.bytes[VNET_LEN..]
    }

    #[must_use]
    pub fn max_piece_len(&self) -> usize {
        let len = self.packet().len();
        self.segments
            .map_or(len, |s| len.min(s.header_len + s.payload))
    }

    pub fn pieces(self) -> impl Iterator<Item = Piece> {
        let len = self.packet().len();
        let count = self
            .segments
            .map_or(1, |s| (len - s.header_len).div_ceil(s.payload));
        let is_detached = self.is_large() && self.pool.0.used.get() > PacketPool::MAX_USED;
        let whole = Rc::new(self);
        (0..count).map(move |number| {
            let piece = Piece {
                whole: Rc::clone(&whole),
                number,
            };
            if is_detached { piece.detached() } else { piece }
        })
    }
}

impl Piece {
    #[must_use]
    pub fn len(&self) -> usize {
        let packet = self.whole.packet();
        match self.whole.segments {
            None => packet.len(),
            Some(segments) => {
                let start = segments.header_len + self.number * segments.payload;
                segments.header_len + segments.payload.min(packet.len() - start)
            }
        }
    }

    /// Copies it to memory of its own.
    fn detached(&self) -> Piece {
        let mut bytes = Vec::with_capacity(VNET_LEN + self.len());
        bytes.resize(VNET_LEN, 0);
        self.emit(&mut bytes);
        let packet = SuperPacket {
            bytes,
            partial_checksum: self.partial_checksum(),
            segments: None,
            pool: self.whole.pool.clone(),
        };
        Piece {
            whole: Rc::new(packet),
            number: 0,
        }
    }

    /// Whether its TCP or UDP checksum covers the pseudo-header only.
    #[must_use]
    pub fn partial_checksum(&self) -> bool {
        self.whole.partial_checksum
    }

    #[must_use]
    pub fn to_packet(&self) -> Vec<u8> {
        let mut packet = Vec::with_capacity(self.len());
        self.emit(&mut packet);
        let transport = transport_start(&packet).filter(|_| self.partial_checksum());
        if let Some((start, protocol)) = transport {
            let start = usize::from(start);
            let at = start + checksum_offset(protocol);
            // The checksum field contains the sum of the pseudo-header.
            let checksum = Checksum::new().add_bytes(&packet[start..]).finish();
            if let Some(field) = packet.get_mut(at..at + 2) {
                // Zero would mean no checksum (RFC 768); 0xffff is equal to it in ones' complement.
                let checksum = if checksum == 0 { u16::MAX } else { checksum };
                field.copy_from_slice(&checksum.to_be_bytes());
            }
        }
        packet
    }

    pub fn emit(&self, out: &mut Vec<u8>) {
        let packet = self.whole.packet();
        let Some(segments) = self.whole.segments else {
            out.extend_from_slice(packet);
            return;
        };
        let len = self.len();
        let at = out.len();
        let start = segments.header_len + self.number * segments.payload;
        let end = start + len - segments.header_len;
        out.extend_from_slice(&packet[..segments.header_len]);
        out.extend_from_slice(&packet[start..end]);
        let header = &mut out[at..at + segments.header_len];
        let tcp = segments.ip_len;
        let passed = (self.number * segments.payload) as u32;
        let sequence = u32_at(header, tcp + SEQUENCE).wrapping_add(passed);
        header[tcp + SEQUENCE..tcp + SEQUENCE + 4].copy_from_slice(&sequence.to_be_bytes());
        if self.number > 0 {
            header[tcp + FLAGS] &= !CWR;
        }
        if end < packet.len() {
            header[tcp + FLAGS] &= !FIN_PSH;
        }
        set_lengths(
            header,
            segments.ip_len,
            segments.ipv4,
            len,
            self.number as u16,
        );
    }
}

/// Sets the lengths in the headers of a TCP packet of `len` bytes, and the dependent fields: an IPv4
/// identification incremented by `further`, the header's checksum, and TCP's partial checksum.
pub(super) fn set_lengths(header: &mut [u8], ip_len: usize, ipv4: bool, len: usize, further: u16) {
    if ipv4 {
        header[2..4].copy_from_slice(&(len as u16).to_be_bytes());
        let identification = u16::from_be_bytes([header[4], header[5]]).wrapping_add(further);
        header[4..6].copy_from_slice(&identification.to_be_bytes());
        header[10..12].fill(0);
        let checksum = Checksum::new().add_bytes(&header[..ip_len]).finish();
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    } else {
        header[4..6].copy_from_slice(&((len - 40) as u16).to_be_bytes());
    }
    let partial = partial_checksum(header, ip_len, ipv4, len - ip_len);
    let at = ip_len + TCP_CHECKSUM;
    header[at..at + 2].copy_from_slice(&partial.to_be_bytes());
}

/// Computes the sum of TCP's pseudo-header, which VIRTIO_NET_HDR_F_NEEDS_CSUM requires in the checksum field.
fn partial_checksum(header: &[u8], ip_len: usize, ipv4: bool, transport_len: usize) -> u16 {
    let addresses = if ipv4 {
        &header[12..20]
    } else {
        &header[8..40]
    };
    debug_assert!(ip_len <= header.len());
    let sum = Checksum::new()
        .add_bytes(addresses)
        .add_u16(6)
        .add_u32(transport_len as u32);
    !sum.finish()
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Returns the virtio-net header of a single packet, with the position of a partial checksum.
#[must_use]
pub fn single_header(packet: &[u8], partial_checksum: bool) -> [u8; VNET_LEN] {
    let mut header = [0; VNET_LEN];
    let Some(start) = partial_checksum.then(|| transport_start(packet)).flatten() else {
        return header;
    };
    let (start, protocol) = start;
    let offset = checksum_offset(protocol) as u16;
    header[0] = NEEDS_CHECKSUM;
    header[6..8].copy_from_slice(&start.to_le_bytes());
    header[8..10].copy_from_slice(&offset.to_le_bytes());
    header
}

#[must_use]
pub(super) fn super_header(
    ip_len: usize,
    header_len: usize,
    payload: usize,
    ipv4: bool,
) -> [u8; VNET_LEN] {
    let mut header = [0; VNET_LEN];
    header[0] = NEEDS_CHECKSUM;
    header[1] = if ipv4 { GSO_TCP4 } else { GSO_TCP6 };
    header[2..4].copy_from_slice(&(header_len as u16).to_le_bytes());
    header[4..6].copy_from_slice(&(payload as u16).to_le_bytes());
    header[6..8].copy_from_slice(&(ip_len as u16).to_le_bytes());
    header[8..10].copy_from_slice(&(TCP_CHECKSUM as u16).to_le_bytes());
    header
}

fn checksum_offset(protocol: u8) -> usize {
    if protocol == 17 { 6 } else { TCP_CHECKSUM }
}

/// Offset of the TCP or UDP header, and its protocol.
fn transport_start(packet: &[u8]) -> Option<(u16, u8)> {
    let ip = IpView::parse(packet).ok()?;
    let start = ip.payload().as_ptr() as usize - packet.as_ptr() as usize;
    matches!(ip.protocol(), 6 | 17).then_some((start as u16, ip.protocol()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_full_pool_are_copied() {
        let pool = PacketPool::default();
        let waiting: Vec<Vec<u8>> = {
            let mut waiting = Vec::new();
            for _ in 0..2 * PacketPool::MAX_USED {
                let mut bytes = pool.take();
                bytes.extend_from_slice(&super_header(20, 52, 1000, true));
                bytes.resize(VNET_LEN + 52 + 5000, 7);
                (bytes[VNET_LEN], bytes[VNET_LEN + 20 + DATA_OFFSET]) = (0x45, 0x80);
                let packet = SuperPacket::parse(bytes, &pool).unwrap();
                assert!(pool.0.used.get() <= PacketPool::MAX_USED + 1);
                waiting.extend(packet.pieces().nth(3));
            }
            assert_eq!(pool.0.used.get(), PacketPool::MAX_USED);
            let emitted = waiting.iter().map(|piece| {
                let mut out = Vec::new();
                piece.emit(&mut out);
                out
            });
            emitted.collect()
        };
        assert_eq!(pool.0.used.get(), 0);
        assert!(waiting.iter().all(|packet| *packet == waiting[0]));
    }
}
