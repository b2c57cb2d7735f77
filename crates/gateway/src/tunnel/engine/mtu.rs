//! Effects of the path MTUs of the peers' links.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::Flow;
use tracing::{info, warn};

use super::{Engine, HandshakeRole, states, write};
use crate::tunnel::oversize::OversizeAction;
use crate::tunnel::status::PeerStatus;
use crate::tunnel::super_packet::SuperPacket;

impl Engine {
    /// Sets the MTU of a client's device to the path MTU of its links.
    pub(super) fn update_mtu(&mut self) {
        let HandshakeRole::Initiator(_) = self.end else {
            return;
        };
        let (most, before) = self.mtus;
        let mtu = self.peers[0].mtu().and_then(|mtu| u16::try_from(mtu).ok());
        let mtu = mtu.map_or(before, |mtu| mtu.min(most));
        if mtu == before {
            return;
        }
        self.mtus.1 = mtu;
        match self.device.set_mtu(mtu) {
            Ok(()) => {
                info!("{}: MTU {mtu}", self.device.name);
                self.status.mtu = mtu;
            }
            Err(error) => warn!("{}: MTU {mtu}: {error}", self.device.name),
        }
    }

    /// Returns the longest packet that may be sent to a peer, if this one is longer. A client's device has
    /// that MTU, but the relay's device serves several peers.
    pub(super) fn exceeded_mtu(&self, peer: usize, packet: &SuperPacket) -> Option<u32> {
        let HandshakeRole::Responder(_) = self.end else {
            return None;
        };
        let mtu = self.peers[peer].mtu()?;
        (packet.max_piece_len() > mtu as usize).then_some(mtu)
    }

    pub(super) fn handle_oversize(
        &mut self,
        now: Time,
        peer: usize,
        packet: SuperPacket,
        mtu: u32,
    ) {
        let flow = Flow::of(packet.packet());
        match self.oversize.decide(now, packet, mtu, &self.pool) {
            OversizeAction::Fragments(pieces) => {
                self.take_pieces(now, peer, flow, pieces.into_iter());
            }
            OversizeAction::Reply(answer) => write(&self.device.file, &answer),
            OversizeAction::Drop => {}
        }
    }
}

pub(super) fn warn_of_narrow_links(before: &[PeerStatus], now: &[PeerStatus]) {
    for (number, peer) in now.iter().enumerate() {
        let known = before.get(number).map_or(&[][..], |peer| &peer.links);
        for (number, link) in peer.links.iter().enumerate() {
            let was_narrow = known.get(number).is_some_and(|link| link.is_too_narrow());
            if link.is_too_narrow() && !was_narrow {
                let (peer, link) = (&peer.name, &link.name);
                warn!("{peer}: link {link}: {}", states::TOO_NARROW);
            }
        }
    }
}
