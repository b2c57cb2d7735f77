//! Packets from the device, and the datagrams that carry them to the peers.

use std::io;
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Feedback, Flow, Sender, SharedDatagram, Transmit};
use ropewalk_wire::IpView;
use ropewalk_wire::gateway::tunnel::TunnelFrame;
use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use super::{Engine, HandshakeRole, MAX_BATCHES, sending, source, write};
use crate::tunnel::refusal::Refusal;
use crate::tunnel::super_packet::{Piece, SuperPacket, VNET_LEN};

/// Packets up to this length are copied out of the buffer they were read into.
const MAX_COPIED: usize = 4096;

impl Engine {
    pub(super) fn take_packets(&mut self) -> io::Result<()> {
        let (_, now) = self.now();
        for _ in 0..MAX_BATCHES {
            let mut bytes = self.pool.take();
            match rustix::io::read(&self.device.file, spare_capacity(&mut bytes)) {
                Ok(_) => {}
                Err(Errno::AGAIN | Errno::INTR) => {
                    self.pool.recycle(bytes);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
            if bytes.len() <= MAX_COPIED {
                let small = bytes.clone();
                self.pool.recycle(mem::replace(&mut bytes, small));
            }
            let Some(packet) = SuperPacket::parse(bytes, &self.pool) else {
                continue;
            };
            if stays_on_link(packet.packet()) {
                continue;
            }
            if self.refuse_foreign(now, packet.packet()) {
                continue;
            }
            let Some(number) = self.peer_of(packet.packet()) else {
                continue;
            };
            if let Some(mtu) = self.exceeded_mtu(number, &packet) {
                self.handle_oversize(now, number, packet, mtu);
                continue;
            }
            let flow = Flow::of(packet.packet());
            self.take_pieces(now, number, flow, packet.pieces());
        }
        Ok(())
    }

    /// Queues the pieces of a packet for a peer, or sends them at once.
    pub(super) fn take_pieces(
        &mut self,
        now: Time,
        number: usize,
        flow: Flow,
        pieces: impl Iterator<Item = Piece>,
    ) {
        let (instant, peer) = (Instant::now(), &mut self.peers[number]);
        for piece in pieces {
            if self.configs.0.naive {
                peer.send_at_once((instant, now), piece, sending(&self.sockets));
            } else {
                let len = piece.len() as u32;
                peer.sender.enqueue(now, piece, len, flow);
            }
        }
    }

    /// Whether a client's packet is refused, since its source is not one of the client's addresses.
    fn refuse_foreign(&mut self, now: Time, packet: &[u8]) -> bool {
        let Some(foreign) = &mut self.foreign else {
            return false;
        };
        if !foreign.is_foreign(packet) {
            return false;
        }
        if let Some(answer) = foreign.refuse(now, packet) {
            write(&self.device.file, &[&[0; VNET_LEN][..], &answer].concat());
        }
        if let Some(source) = source(packet) {
            self.refuse(SocketAddr::new(source, 0), Refusal::ForeignSource);
        }
        true
    }

    fn peer_of(&self, packet: &[u8]) -> Option<usize> {
        match self.end {
            HandshakeRole::Initiator(_) => Some(0),
            HandshakeRole::Responder(_) => {
                let destination = IpView::parse(packet).ok()?.destination();
                self.addresses.get(&destination).copied()
            }
        }
    }

    /// Sends packets and feedback for which links have capacity.
    pub(super) fn transmit(&mut self) {
        let (instant, now) = self.now();
        let sockets = &self.sockets;
        for peer in &mut self.peers {
            if !peer.is_open(instant) {
                continue;
            }
            while let Some(feedback) = peer.receiver.poll_feedback(now) {
                let left_out = peer.sender.left_out();
                let feedback = Feedback {
                    left_out,
                    ..feedback
                };
                let frame = TunnelFrame::Feedback(feedback);
                for link in peer.sender.feedback_links(now, feedback.link) {
                    peer.answer(now, link, &frame, sending(sockets));
                }
            }
            while peer.limit.ready_at() <= now
                && let Some(first) = peer.sender.poll_transmit(now)
            {
                let link = first.link;
                let mut len = 0;
                let fill = |sender: &mut _, out: &mut Vec<u8>| {
                    let start = out.len();
                    fill(sender, out, first);
                    len = out.len() - start;
                };
                peer.seal(now, link, fill, sending(sockets));
                peer.limit.on_sent(now, len);
            }
            peer.flush(now, sending(sockets));
        }
    }
}

/// Fills a datagram with a packet, and more packets if they are short.
fn fill(sender: &mut Sender<Piece>, out: &mut Vec<u8>, first: Transmit<Piece>) {
    let path_mtu = sender.confirmed_path_mtu(first.link);
    let Some(mut shared) = SharedDatagram::begin(path_mtu, first.bytes) else {
        TunnelFrame::emit_packet_head(first.sequencing, first.packet.partial_checksum(), None, out);
        first.packet.emit(out);
        return;
    };
    let mut next = Some(first);
    while let Some(packet) = next {
        let len = packet.bytes as u16;
        let partial = packet.packet.partial_checksum();
        TunnelFrame::emit_packet_head(packet.sequencing, partial, Some(len), out);
        packet.packet.emit(out);
        next = sender.poll_more(packet.link, shared.put(packet.bytes));
    }
}

/// Link-local packets, such as router solicitations, are not forwarded (RFC 4291, section 2.5.6).
fn stays_on_link(packet: &[u8]) -> bool {
    source(packet).is_some_and(|source| match source {
        IpAddr::V4(source) => source.is_link_local(),
        IpAddr::V6(source) => source.is_unicast_link_local() || source.is_unspecified(),
    })
}
