//! Handling of datagrams from the sockets: their frames, and their packets for the device.

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Delivery, Sequencing};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};
use tracing::info;

use super::{Engine, HELLOS, HandshakeRole, MAX_BATCHES, sending, source, terms, write};
use crate::tunnel::coalescer::Coalescer;
use crate::tunnel::device::Device;
use crate::tunnel::dialer::SILENCE;
use crate::tunnel::handshake::{ANSWER, COOKIE, HELLO};
use crate::tunnel::link_path::Path;
use crate::tunnel::peer::{Peer, ReceivedPacket, ip_udp_len};
use crate::tunnel::refusal::Refusal;
use crate::tunnel::socket::ReceiveBuffers;

/// Largest number of pings and terms of a datagram that get a reply: more than an honest peer sends in one.
const REPLIES: usize = 4;

impl Engine {
    pub(super) fn take_datagrams(&mut self, socket: usize) -> io::Result<()> {
        let mut buffers = self.buffers.take().unwrap_or_else(ReceiveBuffers::new);
        let batches = if self.is_for_hellos(socket) {
            1
        } else {
            MAX_BATCHES
        };
        for _ in 0..batches {
            if !self.sockets.receive(socket, &mut buffers)? {
                break;
            }
            let now = self.now();
            let is_link = matches!(self.end, HandshakeRole::Initiator(_));
            for (from, local, datagram) in buffers.datagrams() {
                self.sockets
                    .count_received(socket, &from, datagram.len() as u64);
                // A link sends from its present address, which may differ from the previous one.
                let local = local.filter(|_| !is_link);
                let path = Path::new(socket, from, local);
                if let Err(why) = self.on_datagram(now, path, datagram) {
                    self.refuse(from, why);
                }
            }
            self.flush_device();
        }
        self.buffers = Some(buffers);
        Ok(())
    }

    /// Whether a socket receives hellos only. They are handled last, and fewer in each round.
    pub(super) fn is_for_hellos(&self, socket: usize) -> bool {
        socket == HELLOS && matches!(self.end, HandshakeRole::Responder(_))
    }

    pub(super) fn refuse(&mut self, from: SocketAddr, why: Refusal) {
        self.refused.count(why);
        if let Some(log_message) = why.log_message() {
            let source = crate::source::source(from.ip());
            self.refusals.note(source, why.name(), log_message);
        }
    }

    pub(super) fn on_datagram(
        &mut self,
        now: (Instant, Time),
        path: Path,
        datagram: &mut [u8],
    ) -> Result<(), Refusal> {
        if matches!(self.end, HandshakeRole::Initiator(_)) && !self.sockets.is_relay(&path) {
            return Err(Refusal::ForeignPath);
        }
        match (datagram.first(), &mut self.end) {
            (Some(&TunnelHeader::KIND), _) => self.on_frames(now, path, datagram),
            (Some(&HELLO), HandshakeRole::Responder(_)) => self.on_hello(now.0, path, datagram),
            (Some(&ANSWER), HandshakeRole::Initiator(_)) => {
                self.on_answer(now, path.socket, datagram)
            }
            (Some(&COOKIE), HandshakeRole::Initiator(dialer)) => {
                dialer.on_cookie(now.0, path.socket, datagram)
            }
            _ => Err(Refusal::Malformed),
        }
    }

    fn on_frames(
        &mut self,
        now: (Instant, Time),
        path: Path,
        datagram: &mut [u8],
    ) -> Result<(), Refusal> {
        let header = TunnelHeader::parse(datagram).ok_or(Refusal::Malformed)?;
        let is_link = matches!(self.end, HandshakeRole::Initiator(_));
        if is_link && usize::from(header.link) != path.socket {
            return Err(Refusal::ForeignPath);
        }
        let number = self.sessions.get(&header.session);
        let number = *number.ok_or(Refusal::UnknownSession)?;
        let peer = &mut self.peers[number];
        let wire_len = datagram.len() as u32 + ip_udp_len(&path.remote);
        let frames = peer.open(now, header, datagram, wire_len, path)?;
        peer.send_probes(now.1, sending(&self.sockets));
        if peer.has_moved() {
            let own = peer.addresses.as_deref().unwrap_or_default();
            info!("{}: connected from {} with {own:?}", peer.name, path.remote);
            self.addresses.retain(|_, &mut other| other != number);
            let own = own.iter().map(|address| (*address, number));
            self.addresses.extend(own);
        }
        let naive = self.configs.0.naive;
        let (mut pongs, mut replies) = (Vec::new(), 0);
        let mut is_answered = peer.sender.is_busy(now.1);
        let mut is_closed = false;
        let mut refused = None;
        for frame in TunnelFrame::parse_all(frames) {
            match frame {
                Ok(TunnelFrame::Packet {
                    sequencing,
                    partial_checksum,
                    bytes,
                }) => {
                    // Nothing but the status needs feedback about packets that were sent at once.
                    let is_at_once = naive && is_at_once(sequencing);
                    is_answered |= !is_at_once;
                    let Some(source) = source(bytes) else {
                        refused = Some(Refusal::Malformed);
                        continue;
                    };
                    let is_own = |own: &Vec<_>| own.contains(&source);
                    if !peer.addresses.as_ref().is_none_or(is_own) {
                        refused = Some(Refusal::ForeignSource);
                        continue;
                    }
                    let passes = peer.receiver.passes(now.1, sequencing);
                    if !peer.receiver.is_copy() && !is_at_once {
                        peer.sender.on_packet(now.1, bytes.len() as u32);
                    }
                    if passes && peer.limit.admit(now.1, bytes.len()) {
                        let file = &self.device.file;
                        self.coalescer
                            .push(bytes, partial_checksum, |bytes| write(file, bytes));
                        if is_at_once {
                            // Each packet by itself, as on the link.
                            self.coalescer.flush(|bytes| write(file, bytes));
                        }
                    } else if !passes {
                        let packet = ReceivedPacket {
                            bytes: bytes.to_vec(),
                            partial_checksum,
                        };
                        // Drops duplicates.
                        let _ = peer.receiver.hold(sequencing, packet, bytes.len() as u32);
                    }
                    deliver(peer, &mut self.coalescer, &self.device, now.1);
                }
                Ok(TunnelFrame::Feedback(feedback)) => {
                    peer.sender.on_feedback(now.1, &feedback);
                    peer.receiver.leave_out(feedback.left_out);
                    peer.receiver.expect_repairs(peer.sender.repair_time());
                }
                Ok(TunnelFrame::Ping(token)) => {
                    is_answered = true;
                    replies += 1;
                    // A ping without a token is answered by feedback alone.
                    pongs.extend((token != 0 && replies <= REPLIES).then_some(token));
                }
                Ok(TunnelFrame::Pong(token)) => {
                    peer.on_pong(now.1, usize::from(header.link), token);
                }
                Ok(TunnelFrame::Terms {
                    link,
                    version,
                    terms,
                }) if !is_link && replies < REPLIES => {
                    replies += 1;
                    let announced = (link, version, terms);
                    let applied =
                        terms::on_terms(peer, now.1, announced, header.link, &self.sockets);
                    refused = applied.err().or(refused);
                }
                Ok(TunnelFrame::TermsSeen { link, version }) => {
                    self.announcer.on_seen(usize::from(link), version);
                }
                Ok(TunnelFrame::PathMtu { link, bytes }) => peer.on_path_mtu(link, bytes),
                Ok(TunnelFrame::Close) => {
                    info!("{}: closed the tunnel", peer.name);
                    is_closed = true;
                }
                Ok(TunnelFrame::Terms { .. }) | Err(_) => refused = Some(Refusal::Malformed),
            }
        }
        if is_answered {
            peer.receiver.answer(now.1, header.link);
        }
        for token in pongs {
            let (link, pong) = (usize::from(header.link), TunnelFrame::Pong(token));
            peer.answer(now.1, link, &pong, sending(&self.sockets));
        }
        if is_closed {
            match self.end {
                HandshakeRole::Responder(_) => self.disconnect(number),
                // The relay may be restarted: the next hello is due at once.
                HandshakeRole::Initiator(_) => peer.unanswered = now.0.checked_sub(SILENCE),
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// Writes due packets to the device.
    pub(super) fn deliver(&mut self) {
        let (_, now) = self.now();
        for peer in &mut self.peers {
            deliver(peer, &mut self.coalescer, &self.device, now);
        }
        self.flush_device();
    }

    pub(super) fn flush_device(&mut self) {
        let file = &self.device.file;
        self.coalescer.flush(|bytes| write(file, bytes));
    }
}

/// Whether a packet was sent past the queue, as all packets are with `--naive`.
fn is_at_once(sequencing: Sequencing) -> bool {
    sequencing.lane == 0 && sequencing.delivery == Delivery::AtOnce
}

fn deliver(peer: &mut Peer, coalescer: &mut Coalescer, device: &Device, now: Time) {
    while let Some(packet) = peer.receiver.poll_deliver(now) {
        if !peer.limit.admit(now, packet.bytes.len()) {
            continue;
        }
        let file = &device.file;
        coalescer.push(&packet.bytes, packet.partial_checksum, |bytes| {
            write(file, bytes)
        });
    }
}
