//! Encryption of datagrams to a peer, and their sending in batches.

use std::time::Instant;

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Ping, Sender};
use ropewalk_wire::gateway::tunnel::{TunnelFrame, TunnelHeader};

use super::{Keys, Peer, ip_udp_len};
use crate::tunnel::batch::Batch;
use crate::tunnel::link_path::{LinkPath, Path};
use crate::tunnel::super_packet::Piece;

/// Number of links that keep the buffers of their batches, up to 128 KiB each. A client chooses how many
/// links it has.
const BUFFERED_LINKS: usize = 8;

impl Peer {
    /// Encrypts a datagram with the packets or the ping that `fill` appends. `send` gets full batches, and
    /// returns whether the interface accepts datagrams of that length.
    pub fn seal(
        &mut self,
        now: Time,
        link: usize,
        fill: impl FnOnce(&mut Sender<Piece>, &mut Vec<u8>),
        send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        self.unanswered.get_or_insert_with(Instant::now);
        self.seal_as(Sender::send, now, (link, None), fill, send);
    }

    /// Encrypts a datagram with another frame.
    pub fn answer(
        &mut self,
        now: Time,
        link: usize,
        frame: &TunnelFrame<'_>,
        send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        let fill = |_: &mut _, out: &mut Vec<u8>| frame.emit(out);
        self.seal_as(Sender::send_answer, now, (link, None), fill, send);
    }

    /// `whole`: the longest datagram to send in one piece, if it differs from the link's path MTU.
    pub(super) fn seal_as(
        &mut self,
        number: fn(&mut Sender<Piece>, Time, usize, u32) -> u64,
        now: Time,
        (link, whole): (usize, Option<u32>),
        fill: impl FnOnce(&mut Sender<Piece>, &mut Vec<u8>),
        send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        if let Some(path) = self.paths.get(link).and_then(LinkPath::destination) {
            let whole = whole.unwrap_or_else(|| self.sender.max_unfragmented(link));
            self.seal_to(Path { whole, ..path }, number, now, link, fill, send);
        }
    }

    pub(super) fn seal_to(
        &mut self,
        path: Path,
        number: fn(&mut Sender<Piece>, Time, usize, u32) -> u64,
        now: Time,
        link: usize,
        fill: impl FnOnce(&mut Sender<Piece>, &mut Vec<u8>),
        mut send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        let Some(keys) = &self.current else {
            return;
        };
        let batch = &mut self.batches[link];
        let start = batch.begin();
        let out = batch.bytes();
        out.extend_from_slice(&[0; TunnelHeader::LEN]);
        out.extend_from_slice(&((now.as_nanos() / 1000) as u32).to_be_bytes());
        fill(&mut self.sender, out);
        let len = out.len() - start + keys.tag_len();
        let wire_len = len as u32 + ip_udp_len(&path.remote);
        if !self.paths[link].spend(&path, wire_len) {
            out.truncate(start);
            return;
        }
        let header = TunnelHeader {
            link: link as u8,
            session: keys.theirs,
            sequence: number(&mut self.sender, now, link, wire_len),
        };
        let (head, body) = out[start..].split_at_mut(TunnelHeader::LEN);
        head.copy_from_slice(&header.to_bytes());
        if let Some(session) = &keys.session {
            let tag = session.seal.seal(header.number(), head, body);
            out.extend_from_slice(&tag);
        }
        self.sealed += len as u64;
        let mut refused = None;
        batch.end(start, |bytes, segment| {
            if !send(&path, bytes, segment) {
                refused = Some(segment as u32 + ip_udp_len(&path.remote));
            }
        });
        if let Some(bytes) = refused {
            self.sender.on_refused(now, link, bytes);
        }
    }

    /// Sends a ping. A padded one, a probe of the path MTU or of a packet train, is sent by itself.
    pub fn ping(
        &mut self,
        now: Time,
        ping: Ping,
        mut send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        let emit = |_: &mut _, out: &mut Vec<u8>| TunnelFrame::Ping(ping.token).emit(out);
        let Some(bytes) = ping.bytes else {
            self.seal(now, ping.link, emit, send);
            return;
        };
        let Some(path) = self.paths.get(ping.link).and_then(LinkPath::active) else {
            return;
        };
        let tag_len = self.current.as_ref().map_or(0, Keys::tag_len);
        let padded = (bytes - ip_udp_len(&path.remote)) as usize - tag_len;
        let padded = |sender: &mut _, out: &mut Vec<u8>| {
            emit(sender, out);
            out.resize(padded, 0);
        };
        self.flush(now, &mut send);
        let whole = if ping.in_fragments { 0 } else { u32::MAX };
        let mut fits = true;
        let mut send = |path: &Path, bytes: &[u8], segment| {
            fits &= send(&Path { whole, ..*path }, bytes, segment);
            true
        };
        self.unanswered.get_or_insert_with(Instant::now);
        self.seal_as(
            Sender::send,
            now,
            (ping.link, Some(whole)),
            padded,
            &mut send,
        );
        self.flush(now, send);
        if !fits && ping.token != 0 {
            self.sender.on_too_long(now, ping.link);
        }
    }

    /// Sends the remaining datagrams of the batches.
    pub fn flush(&mut self, now: Time, mut send: impl FnMut(&Path, &[u8], usize) -> bool) {
        for link in 0..self.batches.len() {
            if let Some(path) = self.paths[link].destination() {
                self.flush_to(path, now, link, &mut send);
            }
            if link >= BUFFERED_LINKS {
                self.batches[link] = Batch::default();
            }
        }
    }

    pub(super) fn flush_to(
        &mut self,
        path: Path,
        now: Time,
        link: usize,
        send: &mut impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        let path = Path {
            whole: self.sender.max_unfragmented(link),
            ..path
        };
        self.batches[link].flush(|bytes, segment| {
            if !send(&path, bytes, segment) {
                let bytes = segment as u32 + ip_udp_len(&path.remote);
                self.sender.on_refused(now, link, bytes);
            }
        });
    }
}
