//! The status of a peer.

use std::time::{Duration, Instant};

use ropewalk_quantities::{Bytes, Time};
use ropewalk_striping::tunnel::{LinkReceiver, LinkStatus};

use super::Peer;
use crate::quota::QuotaStatus;
use crate::status::document;
use crate::tunnel::path_mtu_notice::PathMtuNotice;
use crate::tunnel::status::{PeerLink, PeerStatus, ReceivedTraffic};

impl Peer {
    /// Returns its status. `about` returns a link's name and usage, unless the link was removed. Links up to
    /// `count` are listed even if they have never had a path.
    #[must_use]
    pub fn status(
        &self,
        now: (Instant, Time),
        count: usize,
        about: impl Fn(usize) -> Option<(String, Option<QuotaStatus>)>,
    ) -> PeerStatus {
        let (queued, limit) = self.sender.backlog();
        let links = (0..self.sender.links().max(count)).filter_map(|number| {
            let (name, quota) = about(number)?;
            let received =
                self.receiver
                    .link(number)
                    .map_or_else(ReceivedTraffic::default, |link| {
                        let (datagrams, bytes) = link.counts();
                        ReceivedTraffic {
                            datagrams,
                            bytes,
                            reordered: link.reordered(),
                        }
                    });
            Some(PeerLink {
                name,
                quota,
                sent: match number < self.sender.links() {
                    true => self.sender.link(number),
                    false => LinkStatus {
                        terms: self.terms(number),
                        ..LinkStatus::default()
                    },
                },
                received,
                peer_path_mtu: self
                    .path_mtus
                    .get(number)
                    .and_then(PathMtuNotice::peer_path_mtu),
                heard: self
                    .receiver
                    .link(number)
                    .and_then(LinkReceiver::heard_at)
                    .map(|at| now.0 - Duration::from_nanos(now.1.saturating_sub(at).as_nanos())),
                is_dialled: false,
                reason: None,
            })
        });
        PeerStatus {
            name: self.name.clone(),
            open: self.is_open(now.0),
            session: match self.is_open(now.0) {
                true => document::SessionState::Up,
                false => document::SessionState::Closed,
            },
            handshake: self.current.as_ref().map(|keys| keys.since),
            queued_packets: self.sender.queued_packets() as u64,
            mtu: self.mtu(),
            sent: self.sender.counters(),
            over_rate: self.limit.dropped(),
            backlog: (Bytes::new(queued), Bytes::new(limit)),
            received: self.receiver.counters(),
            held: Bytes::new(self.receiver.held()),
            skew: self.receiver.skew(now.1),
            links: links.collect(),
        }
    }
}
