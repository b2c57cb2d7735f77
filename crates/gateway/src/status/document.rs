//! What a gateway says of itself: one document, which the table, the page and the metrics show.
//!
//! A number that is not known is absent. Bytes are of the association's frames or the tunnel's
//! packets, without what encryption, TCP or UDP and IP add; Mbit/s are 10^6 bit/s.

use serde::{Deserialize, Serialize};

/// Most streams that an association lists: the busiest.
pub const MAX_STREAMS: usize = 20;

/// Most associations that a gateway lists: the busiest.
pub const MAX_ASSOCIATIONS: usize = 100;

/// A gateway at one moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Ropewalk's version.
    pub version: String,
    /// What it runs as.
    pub role: Role,
    /// Since it started.
    pub uptime_s: f64,
    /// The busiest [`MAX_ASSOCIATIONS`].
    pub associations: Vec<Association>,
    /// How many there are in all.
    pub association_count: u64,
    /// Tunnels, of which most gateways have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunnels: Vec<Tunnel>,
}

/// What a gateway runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The far end.
    Relay,
    /// The near end.
    Proxy,
    /// The near end of the programs that it started.
    Exec,
    /// Either end of a tunnel.
    Tunnel,
}

/// Streams over links towards one peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Association {
    /// The first bytes of its random name, in hexadecimal.
    pub id: String,
    /// Of a proxy, the relay's address; of a relay, the client's name.
    pub peer: String,
    /// Who chooses the link for what is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Since it began.
    pub age_s: f64,
    /// Its links, in the order in which they were named or came.
    pub links: Vec<Link>,
    /// The busiest [`MAX_STREAMS`].
    pub streams: Vec<Stream>,
    /// How many are open in all.
    pub stream_count: u64,
    /// Streams that were opened so far.
    pub opened_streams: u64,
    /// What waits for a gap to close, over all streams.
    pub reassembly_bytes: u64,
    /// More than this never waits.
    pub reassembly_bound_bytes: u64,
}

/// Packets of a virtual device over links towards one peer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tunnel {
    /// The virtual device.
    pub interface: String,
    /// The other end's address, or its name.
    pub peer: String,
    /// Who chooses the link for a packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Largest packet that it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu_bytes: Option<u64>,
    /// Longest that a packet now waits for one that was sent before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_ms: Option<f64>,
    /// Packets that wait so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_packets: Option<u64>,
    /// Packets that a link lost and that went again, so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired_packets: Option<u64>,
    /// Its links.
    pub links: Vec<Link>,
}

/// One link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// As the near end calls it.
    pub name: String,
    /// Whether it can be used.
    pub state: State,
    /// How long ago something last came by it; absent if nothing has. An idle link is asked every
    /// half minute, a metered one each minute, and may be dead for so long without being known to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_heard_s: Option<f64>,
    /// Smoothed round-trip time above TCP or UDP: what waits in this end's socket is part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<f64>,
    /// The shortest of late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rtt_ms: Option<f64>,
    /// What it carried in the last second; the gateway that is asked measures it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_mbps: Option<Rates>,
    /// Greatest rate of late at which what this end sent was delivered: the link carries no more,
    /// or no more was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery_rate_mbps: Option<f64>,
    /// Sent and not acknowledged.
    pub in_flight_bytes: u64,
    /// Sent so far, what was sent again included.
    pub sent_bytes: u64,
    /// Received so far.
    pub received_bytes: u64,
    /// Of what it held, what had to be sent again over another carrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resent_bytes: Option<u64>,
    /// How many times it was suspected.
    pub suspicions: u64,
    /// Price of a megabyte.
    pub cost: f64,
    /// Congestion control of its carrier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// What its quota leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_left_bytes: Option<u64>,
    /// What its used-up quota bounds it to, each way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_mbps: Option<f64>,
    /// Of a link with a quota: what it has carried in its period, headers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_bytes: Option<u64>,
    /// Of a link with a quota: what it has carried today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used_today_bytes: Option<u64>,
    /// For how long its quota lasts at the mean rate since it was whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota_lasts_s: Option<f64>,
    /// Of a link with a quota and a price: what its period has cost so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<f64>,
    /// The same of today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent_today: Option<f64>,
    /// Of a tunnel: datagrams sent so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_datagrams: Option<u64>,
    /// Of a tunnel: those of them that were lost, as far as the other end's feedback tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_datagrams: Option<u64>,
    /// Of a tunnel: share of the datagrams sent in the last minute that were lost; the gateway that
    /// is asked measures it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_ratio: Option<f64>,
    /// Of a tunnel: share of the packets received that came after a later one of the same link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reordered_ratio: Option<f64>,
    /// Of a tunnel: longest packet that this end sends by it, IP header included; zero if what it
    /// carries is too short to be of use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_mtu_bytes: Option<u64>,
}

/// Both directions, in Mbit/s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// By this end.
    pub sent: f64,
    /// By this end.
    pub received: f64,
}

/// Whether a link can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// It carries.
    Up,
    /// Nothing was heard of late: it is probed, and what it held was sent elsewhere.
    Suspected,
    /// Being connected.
    Dialling,
    /// Its interface or address is missing, it was taken away, it is on standby, its quota is gone, or
    /// its path MTU is zero.
    Down,
}

impl State {
    /// All of them.
    pub const ALL: [State; 4] = [State::Up, State::Suspected, State::Dialling, State::Down];

    /// As documents spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            State::Up => "up",
            State::Suspected => "suspected",
            State::Dialling => "dialling",
            State::Down => "down",
        }
    }
}

impl Role {
    /// As documents spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Relay => "relay",
            Role::Proxy => "proxy",
            Role::Exec => "exec",
            Role::Tunnel => "tunnel",
        }
    }
}

/// One stream of an association.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Unique in its association.
    pub id: u64,
    /// Host and port that it leads to, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// interactive, streaming or bulk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Since it was opened.
    pub age_s: f64,
    /// Distinct bytes sent.
    pub sent_bytes: u64,
    /// Bytes received in order.
    pub received_bytes: u64,
    /// Written by the program here and not sent.
    pub unsent_bytes: u64,
    /// Arrived before what comes before it.
    pub reassembly_bytes: u64,
    /// What the other end may send beyond what was read here.
    pub window_bytes: u64,
}

impl Document {
    /// Each link, with what it belongs to.
    pub fn links(&self) -> impl Iterator<Item = (Group<'_>, &Link)> {
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

    /// The same, to be changed.
    pub(super) fn links_mut(&mut self) -> impl Iterator<Item = (&str, &mut Link)> {
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

/// What a link belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Of an association, its id; of a tunnel, its interface.
    pub id: &'a str,
    /// The other end.
    pub peer: &'a str,
}
