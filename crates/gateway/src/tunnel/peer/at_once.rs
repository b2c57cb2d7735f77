//! Packets to a peer that are sent at once, without queue and pacing (song-2018).

use std::time::Instant;

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::Sender;
use ropewalk_wire::gateway::tunnel::TunnelFrame;

use super::Peer;
use crate::tunnel::link_path::Path;
use crate::tunnel::super_packet::Piece;

impl Peer {
    /// Sends a packet in a datagram of its own on the next link in turn. Drops it without a session, without a
    /// link in use, or beyond the client's rate.
    pub fn send_at_once(
        &mut self,
        now: (Instant, Time),
        packet: Piece,
        mut send: impl FnMut(&Path, &[u8], usize) -> bool,
    ) {
        if !self.is_open(now.0) || !self.limit.admit_sent(now.1) {
            return;
        }
        let bytes = packet.len();
        let Some(next) = self.sender.transmit_at_once(now.1, packet, bytes as u32) else {
            return;
        };
        let fill = |_: &mut _, out: &mut Vec<u8>| {
            let partial = next.packet.partial_checksum();
            TunnelFrame::emit_packet_head(next.sequencing, partial, None, out);
            next.packet.emit(out);
        };
        self.unanswered.get_or_insert(now.0);
        self.seal_as(
            Sender::send_answer,
            now.1,
            (next.link, None),
            fill,
            &mut send,
        );
        self.flush(now.1, send);
        self.limit.on_sent(now.1, bytes);
    }
}
