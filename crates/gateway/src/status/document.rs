//! Status of a gateway: one document, from which table, page and metrics are made.
//!
//! Unknown values are absent. Bytes are those of the association's frames or the tunnel's packets, without
//! the overhead of encryption, TCP or UDP, and IP; 1 Mbit/s is 10^6 bit/s.

use std::collections::BTreeMap;

use ropewalk_quantities::named;
use serde::{Deserialize, Serialize};

/// Maximum number of streams listed per association: the busiest.
pub const MAX_STREAMS: usize = 20;

/// Maximum number of associations listed per gateway: the busiest.
pub const MAX_ASSOCIATIONS: usize = 100;

/// Status of a gateway at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Version of Ropewalk.
    pub version: String,
    /// Role of the gateway.
    pub role: GatewayRole,
    /// Time since it started.
    pub uptime_s: f64,
    /// Of a client: rates of all links together, and of the fastest one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<TotalRates>,
    /// The busiest [`MAX_ASSOCIATIONS`].
    pub associations: Vec<AssociationSummary>,
    /// Number of all associations.
    pub association_count: u64,
    /// Tunnels; most gateways have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunnels: Vec<TunnelSummary>,
    /// Of a tunnel: refused datagrams and packets so far, by reason; each reason is listed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<String, u64>,
}

named! {
    /// Role of a gateway.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum GatewayRole {
        /// Client for all traffic: a proxy and a tunnel.
        Client = "client",
        /// Relay.
        Relay = "relay",
        /// Client with a proxy.
        Proxy = "proxy",
        /// Client for the programs that it started.
        Exec = "exec",
        /// Either end of a tunnel.
        Tunnel = "tunnel",
    }
}

/// Association: streams over links to a peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AssociationSummary {
    /// The first bytes of its random name, in hexadecimal.
    pub id: String,
    /// Of a proxy, the relay's address; of a relay, the client's name.
    pub peer: String,
    /// Scheduler of this end's data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Time since it began.
    pub age_s: f64,
    /// Its links, in the order in which they were configured or came up.
    pub links: Vec<LinkSummary>,
    /// The busiest [`MAX_STREAMS`].
    pub streams: Vec<StreamSummary>,
    /// Number of all open streams.
    pub stream_count: u64,
    /// Number of streams opened so far.
    pub opened_streams: u64,
    /// Bytes received behind a gap, in all streams.
    pub reassembly_bytes: u64,
    /// Limit of `reassembly_bytes`.
    pub reassembly_bound_bytes: u64,
}

/// Tunnel: packets of a virtual device over links to a peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunnelSummary {
    /// The virtual device.
    pub interface: String,
    /// The peer's address or name.
    pub peer: String,
    /// Scheduler of this end's packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// State of the session with the peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionState>,
    /// Age of the session's keys, which are renewed every two minutes; absent before the first handshake.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshake_age_s: Option<f64>,
    /// Packets that wait for the links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_packets: Option<u64>,
    /// Bytes that wait for the links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued_bytes: Option<u64>,
    /// Limit of `queued_bytes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_bound_bytes: Option<u64>,
    /// Packets dropped so far: `queue-full` here; `given-up`, lost on the peer's links and not repaired in
    /// time.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub dropped_packets: BTreeMap<String, u64>,
    /// MTU of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u64>,
    /// Longest time that a packet now waits for one that was sent before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_ms: Option<f64>,
    /// Packets that wait for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_packets: Option<u64>,
    /// Packets that a link lost and that were retransmitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired_packets: Option<u64>,
    /// Its links.
    pub links: Vec<LinkSummary>,
}

named! {
    /// State of a tunnel's session.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum SessionState {
        /// Relay: the client has no session.
        #[default]
        Closed = "closed",
        /// Client: the relay has not answered yet, or not for ten minutes.
        Handshaking = "handshaking",
        /// Client: the relay refuses it.
        Refused = "refused",
        /// Client: there are keys, but nothing has arrived for 5 s.
        Silent = "silent",
        /// Both ends have keys and receive from each other.
        Up = "up",
    }
}

/// Link of an association or tunnel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkSummary {
    /// Name at the client.
    pub name: String,
    /// Whether it can be used.
    pub state: LinkState,
    /// Reason why it is not in use: of a proxy, why its last dial failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Of a client: address of the page on which the link's network asks for a login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login_page: Option<String>,
    /// Time since the last arrival on it; absent if there was none. An idle link is probed every half minute,
    /// a metered one every minute, so a failure may go unnoticed for as long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_heard_s: Option<f64>,
    /// Smoothed round-trip time above TCP or UDP, including the time in this end's socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// Minimum of recent round-trip times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt_ms: Option<f64>,
    /// Rates of the last second, as measured by the gateway that is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_mbps: Option<Rates>,
    /// Highest recent delivery rate of this end's data: the link's capacity, or the sending rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_rate_mbps: Option<f64>,
    /// Bytes sent and not acknowledged.
    pub in_flight_bytes: u64,
    /// Bytes sent so far, retransmissions included.
    pub sent_bytes: u64,
    /// Bytes received so far.
    pub received_bytes: u64,
    /// Bytes in flight on it that had to be retransmitted over another carrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resent_bytes: Option<u64>,
    /// Number of times it was suspected.
    pub suspicions: u64,
    /// Price of a megabyte.
    pub cost: f64,
    /// Congestion control of its carrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Bytes left of its quota.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_left_bytes: Option<u64>,
    /// Rate limit in each direction, after its quota was used up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_mbps: Option<f64>,
    /// Of a link with a quota: bytes carried in the present period, headers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_bytes: Option<u64>,
    /// Of a link with a quota: bytes carried today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_today_bytes: Option<u64>,
    /// How long its quota will last at the mean rate of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_lasts_s: Option<f64>,
    /// Of a link with a quota and a price: cost of the present period so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<f64>,
    /// Of a link with a quota and a price: cost of today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_today: Option<f64>,
    /// Of a tunnel: datagrams sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_datagrams: Option<u64>,
    /// Of a tunnel: datagrams lost, according to the peer's feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_datagrams: Option<u64>,
    /// Of a tunnel: fraction of the datagrams lost in the last minute, as measured by the queried gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
    /// Of a tunnel: fraction of the received datagrams that arrived after a later one of the same link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordered_ratio: Option<f64>,
    /// Of a tunnel: longest datagram that this end sends in one piece, IP header included; longer ones are
    /// fragmented. Zero if the path MTU is too small for use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_mtu_bytes: Option<u64>,
    /// The peer's path MTU, if reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_path_mtu_bytes: Option<u64>,
}

/// Rates of both directions, in Mbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// Sent by this end.
    pub sent: f64,
    /// Received by this end.
    pub received: f64,
}

/// Rates of a client's links together, and of its fastest link in each direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TotalRates {
    /// Rates of the last second over all links.
    pub rate_mbps: Rates,
    /// The link that sent most in one second of the last 10 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fastest_sending: Option<FastestLink>,
    /// The link that received most in one second of the last 10 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fastest_receiving: Option<FastestLink>,
    /// Of a client: each link as both halves see it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<CombinedLink>,
}

/// Link of a client, as its TCP carriers and its tunnel see it together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CombinedLink {
    /// Name at the client.
    pub name: String,
    /// State of its TCP carrier to a relay.
    pub tcp: LinkState,
    /// State of its UDP path in the tunnel.
    pub udp: LinkState,
    /// Rates of the last second, of both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_mbps: Option<Rates>,
    /// The lower of both smoothed round-trip times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// Minimum of recent round-trip times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt_ms: Option<f64>,
    /// Fraction of the tunnel's datagrams lost in the last minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
    /// Bytes sent and not acknowledged, of both.
    pub in_flight_bytes: u64,
}

/// A link and its highest rate of a second. It is near the link's capacity while the link has enough to carry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FastestLink {
    /// Name of the link.
    pub name: String,
    /// Rate in its best second.
    pub rate_mbps: f64,
}

impl std::ops::Add for Rates {
    type Output = Rates;

    fn add(self, other: Rates) -> Rates {
        Rates {
            sent: self.sent + other.sent,
            received: self.received + other.received,
        }
    }
}

named! {
    /// State of a link.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum LinkState {
        /// It is in use.
        Up = "up",
        /// Nothing arrived recently: it is probed, and bytes in flight were retransmitted on others.
        Suspected = "suspected",
        /// It is being connected.
        Dialling = "dialling",
        /// Unusable: no interface or address, removed, on standby, quota used up, or path MTU of zero.
        #[default]
        Down = "down",
    }
}

/// Stream of an association.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamSummary {
    /// Unique in its association.
    pub id: u64,
    /// Host and port of its target, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// interactive, streaming or bulk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Time since it was opened.
    pub age_s: f64,
    /// Distinct bytes sent.
    pub sent_bytes: u64,
    /// Bytes received in order.
    pub received_bytes: u64,
    /// Bytes written by the local program, and not sent.
    pub unsent_bytes: u64,
    /// Bytes received behind a gap.
    pub reassembly_bytes: u64,
    /// Bytes that the peer may send beyond what was read.
    pub window_bytes: u64,
}

impl Document {
    /// Returns the reason why nothing can be carried now: a tunnel to a relay without a session, or an
    /// association or such a tunnel without a link that is up. A relay that answers has no problem.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        let is_up = |links: &[LinkSummary]| links.iter().any(|link| link.state == LinkState::Up);
        let of_tunnels = self.tunnels.iter().find_map(|tunnel| {
            let name = &tunnel.interface;
            match tunnel.session {
                None | Some(SessionState::Closed) => None,
                Some(SessionState::Up) if is_up(&tunnel.links) => None,
                Some(SessionState::Up) => Some(format!("{name}: no link is up")),
                Some(session) => Some(format!("{name}: the session is {}", session.name())),
            }
        });
        let no_link =
            |association: &&AssociationSummary| self.is_of_client() && !is_up(&association.links);
        let of_associations = self.associations.iter().find(no_link);
        of_tunnels
            .or(of_associations.map(|association| format!("{}: no link is up", association.peer)))
    }

    /// Whether its links belong to one client, which has each link once in each half.
    pub(super) fn is_of_client(&self) -> bool {
        matches!(
            self.role,
            GatewayRole::Client | GatewayRole::Proxy | GatewayRole::Exec
        )
    }

    /// Iterates over the links, each with its association or tunnel.
    pub fn links(&self) -> impl Iterator<Item = (Group<'_>, &LinkSummary)> + Clone {
        let associations = self.associations.iter().flat_map(|association| {
            let group = Group {
                id: &association.id,
                peer: &association.peer,
            };
            association.links.iter().map(move |link| (group, link))
        });
        let tunnels = self.tunnels.iter().flat_map(|tunnel| {
            let group = Group {
                id: &tunnel.interface,
                peer: &tunnel.peer,
            };
            tunnel.links.iter().map(move |link| (group, link))
        });
        associations.chain(tunnels)
    }

    /// As [`links`](Document::links), mutable.
    pub(super) fn links_mut(&mut self) -> impl Iterator<Item = (&str, &mut LinkSummary)> {
        let associations = self.associations.iter_mut().flat_map(|association| {
            let id = association.id.as_str();
            association.links.iter_mut().map(move |link| (id, link))
        });
        let tunnels = self.tunnels.iter_mut().flat_map(|tunnel| {
            let id = tunnel.interface.as_str();
            tunnel.links.iter_mut().map(move |link| (id, link))
        });
        associations.chain(tunnels)
    }
}

/// Association or tunnel of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Id of an association, or interface of a tunnel.
    pub id: &'a str,
    /// Peer of the association or tunnel.
    pub peer: &'a str,
}
