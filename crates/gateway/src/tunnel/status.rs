//! Status of a tunnel, for programs and for the status page.

use std::collections::BTreeMap;
use std::time::Instant;

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_striping::tunnel::{LinkStatus, ResequencerCounters, SenderCounters};

use super::refusal::RefusalCounts;
use crate::quota::QuotaStatus;
use crate::status::document::{self, SessionState};

/// Status of a tunnel.
#[derive(Clone, Debug, Default)]
pub struct TunnelStatus {
    /// The device's name.
    pub device: String,
    /// The device's MTU.
    pub mtu: u16,
    /// The scheduler.
    pub scheduler: &'static str,
    /// The relay, or the clients that have connected so far.
    pub peers: Vec<PeerStatus>,
    /// Counts of refused datagrams and packets.
    pub refused: RefusalCounts,
}

/// Status of a peer.
#[derive(Clone, Debug)]
pub struct PeerStatus {
    /// `relay`, or the client's name in the list.
    pub name: String,
    /// Whether both ends have keys.
    pub open: bool,
    /// State of the session.
    pub session: SessionState,
    /// Time of the session's handshake.
    pub handshake: Option<Instant>,
    /// Longest packet that all of its links carry; `None` if there is no link.
    pub mtu: Option<u32>,
    /// Packets of the device that were accepted, dropped and retransmitted.
    pub sent: SenderCounters,
    /// Packets of the client that were dropped beyond its rate.
    pub over_rate: u64,
    /// Bytes queued for the links, and the limit of the queue.
    pub backlog: (Bytes, Bytes),
    /// Packets queued.
    pub queued_packets: u64,
    /// Packets that were put in order, given up, and late.
    pub received: ResequencerCounters,
    /// Bytes in the reordering buffer.
    pub held: Bytes,
    /// Excess of the slowest link's one-way delay over the fastest one's: the longest time that packets of a
    /// connection spend in the reordering buffer.
    pub skew: Time,
    /// Its links, by the client's numbers.
    pub links: Vec<PeerLink>,
}

/// Status of a link in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerLink {
    /// The client's name of the link; its number at the relay.
    pub name: String,
    /// Its usage, if it is counted; at a client.
    pub quota: Option<QuotaStatus>,
    /// Traffic that this end sends, according to the peer's feedback.
    pub sent: LinkStatus,
    /// Traffic that this end has received.
    pub received: ReceivedTraffic,
    /// The peer's path MTU of the link, if it has announced one.
    pub peer_path_mtu: Option<u16>,
    /// Time of the last authenticated datagram.
    pub heard: Option<Instant>,
    /// Its socket exists, and the relay has not answered yet.
    pub is_dialled: bool,
    /// Why it is not in use, if known.
    pub reason: Option<String>,
}

/// Received traffic of a link; lengths include IP headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceivedTraffic {
    /// Distinct datagrams.
    pub datagrams: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Datagrams that arrived after one that was sent later on the same link.
    pub reordered: u64,
}

impl TunnelStatus {
    /// Returns the status as documents, one per peer.
    #[must_use]
    pub fn documents(&self) -> Vec<document::TunnelSummary> {
        let tunnels = self.peers.iter().map(|peer| document::TunnelSummary {
            interface: self.device.clone(),
            peer: peer.name.clone(),
            scheduler: Some(self.scheduler.to_owned()),
            session: Some(peer.session),
            handshake_age_s: peer.handshake.map(|at| at.elapsed().as_secs_f64()),
            queued_packets: Some(peer.queued_packets),
            queued_bytes: Some(peer.backlog.0.as_u64()),
            queue_bound_bytes: Some(peer.backlog.1.as_u64()),
            dropped_packets: BTreeMap::from([
                ("queue-full".to_owned(), peer.sent.dropped),
                ("given-up".to_owned(), peer.received.given_up),
                ("over-rate".to_owned(), peer.over_rate),
            ]),
            mtu_bytes: Some(peer.mtu.unwrap_or(u32::MAX).min(self.mtu.into()).into()),
            hold_ms: Some(peer.skew.as_millis_f64()),
            held_packets: None,
            repaired_packets: Some(peer.sent.repaired),
            links: peer.links.iter().map(link).collect(),
        });
        tunnels.collect()
    }
}

impl PeerLink {
    /// Returns whether this end or the peer does not use it since its path MTU is too small.
    #[must_use]
    pub fn is_too_narrow(&self) -> bool {
        self.sent.up && (self.sent.path_mtu == 0 || self.peer_path_mtu == Some(0))
    }

    /// Returns its state.
    #[must_use]
    pub fn state(&self) -> document::LinkState {
        let is_used = self.sent.up && !self.sent.terms.standby && !self.is_too_narrow();
        match (is_used, self.sent.suspected) {
            _ if self.is_dialled => document::LinkState::Dialling,
            (false, _) => document::LinkState::Down,
            (true, true) => document::LinkState::Suspected,
            (true, false) => document::LinkState::Up,
        }
    }
}

fn link(link: &PeerLink) -> document::LinkSummary {
    let (sent, received) = (&link.sent, &link.received);
    let ratio = |part: u64, of: u64| (of > 0).then(|| part as f64 / of as f64);
    let mut shown = document::LinkSummary {
        name: link.name.clone(),
        state: link.state(),
        last_heard_s: link.heard.map(|at| at.elapsed().as_secs_f64()),
        rtt_ms: sent.smoothed_round_trip.map(Time::as_millis_f64),
        min_rtt_ms: sent
            .smoothed_round_trip
            .map(|_| sent.least_round_trip.as_millis_f64()),
        delivery_rate_mbps: (sent.rate.as_bps() > 0).then(|| sent.rate.as_mbps()),
        in_flight_bytes: sent.in_flight,
        sent_bytes: sent.bytes,
        received_bytes: received.bytes,
        reason: link.reason.clone(),
        suspicions: sent.suspicions,
        cost: sent.terms.cost,
        throttled_mbps: sent.terms.rate.map(Rate::as_mbps),
        sent_datagrams: Some(sent.datagrams),
        lost_datagrams: Some(sent.lost),
        reordered_ratio: ratio(received.reordered, received.datagrams),
        path_mtu_bytes: sent.up.then(|| sent.path_mtu.into()),
        peer_path_mtu_bytes: link.peer_path_mtu.map(u64::from),
        ..document::LinkSummary::default()
    };
    if let Some(quota) = &link.quota {
        quota.show(&mut shown);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::metrics::exposition;

    #[test]
    fn metrics_list_links_before_the_first_answer() {
        let link = PeerLink {
            name: "wifi".to_owned(),
            quota: None,
            sent: LinkStatus::default(),
            received: ReceivedTraffic::default(),
            peer_path_mtu: None,
            heard: None,
            is_dialled: true,
            reason: Some("the relay has not answered".to_owned()),
        };
        let peer = PeerStatus {
            session: SessionState::Handshaking,
            links: vec![link],
            ..peer()
        };
        let status = TunnelStatus {
            device: "ropewalk0".to_owned(),
            peers: vec![peer],
            ..TunnelStatus::default()
        };
        let document = document::Document {
            version: String::new(),
            role: document::GatewayRole::Tunnel,
            uptime_s: 0.0,
            total: None,
            associations: Vec::new(),
            association_count: 0,
            tunnels: status.documents(),
            refused: status.refused.by_reason(),
        };
        let problem = document.problem();
        assert_eq!(
            problem.as_deref(),
            Some("ropewalk0: the session is handshaking")
        );
        let text = exposition(&document);
        let of = "group=\"ropewalk0\",peer=\"relay\"";
        for line in [
            format!("ropewalk_link_state{{{of},link=\"wifi\",state=\"dialling\"}} 1"),
            format!("ropewalk_link_state{{{of},link=\"wifi\",state=\"up\"}} 0"),
            format!("ropewalk_tunnel_session_state{{{of},state=\"handshaking\"}} 1"),
            format!("ropewalk_tunnel_session_state{{{of},state=\"up\"}} 0"),
            format!("ropewalk_tunnel_dropped_packets_total{{{of},reason=\"queue-full\"}} 2"),
            format!("ropewalk_tunnel_dropped_packets_total{{{of},reason=\"over-rate\"}} 7"),
            "ropewalk_tunnel_refused_total{reason=\"forged\"} 0".to_owned(),
        ] {
            assert!(text.lines().any(|one| one == line), "{line} in:\n{text}");
        }
    }

    #[test]
    fn document_has_repaired_packets() {
        let status = TunnelStatus {
            peers: vec![peer()],
            ..TunnelStatus::default()
        };
        assert_eq!(status.documents()[0].repaired_packets, Some(3));
    }

    fn peer() -> PeerStatus {
        PeerStatus {
            name: "relay".to_owned(),
            open: true,
            session: SessionState::Up,
            handshake: None,
            queued_packets: 0,
            mtu: None,
            sent: SenderCounters {
                packets: 100,
                dropped: 2,
                repaired: 3,
            },
            over_rate: 7,
            backlog: (Bytes::default(), Bytes::default()),
            received: ResequencerCounters::default(),
            held: Bytes::default(),
            skew: Time::ZERO,
            links: Vec::new(),
        }
    }
}
