//! A scenario after parsing: every default filled in, every reference resolved.

mod mesh;
mod protocol;
mod quota;
mod requested;
mod traffic;
mod video;
mod wireless;

use ropewalk_network::LinkConfig;
use ropewalk_quantities::{Bytes, Time};
use ropewalk_transport::Config;

pub use mesh::{Mesh, MeshWeight};
pub(crate) use protocol::datagram_headers;
pub use protocol::{Aggregation, Device, Protocol, VirtualDevice};
pub use quota::Quota;
pub use requested::{
    ChunkSizes, Chunks, Ladder, ObjectKind, Page, PageObject, Quality, Requested, Requests, Think,
    Thinking, Web,
};
pub use traffic::{Spacing, Traffic};
pub use video::{Frames, Preset, Video};
pub use wireless::{Channel, Node, RadioLink, WifiProfile, Wireless};

/// One experiment: links, paths and flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A title, for people.
    pub title: String,
    /// When the run ends at the latest.
    pub duration: Time,
    /// Results count from this time on, so that starting up does not affect them.
    pub warmup: Time,
    /// At least one, names unique.
    pub links: Vec<LinkConfig>,
    /// The data quota of each link; `None` where it has none.
    pub quotas: Vec<Option<Quota>>,
    /// The links that are 802.11 links. The rate, delay and queue of such a link's [`LinkConfig`] are not
    /// used, and its loss applies to each try of a frame.
    pub wireless: Wireless,
    /// The mesh from `[mesh]`, if nodes, links and paths come from one.
    pub mesh: Option<Mesh>,
    /// At least one, names unique; without any in the file, each link is a path of its own name.
    pub paths: Vec<Path>,
    /// At least one, names unique. The first is the one that single-flow results describe; competitors come
    /// last.
    pub flows: Vec<Flow>,
    /// "Read this before trusting the numbers": stored with the results.
    pub warnings: Vec<String>,
}

impl Scenario {
    /// The flow that single-flow results describe.
    #[must_use]
    pub fn first(&self) -> &Flow {
        &self.flows[0]
    }

    /// The data quota of a link, if it has one.
    #[must_use]
    pub fn quota(&self, link: usize) -> Option<&Quota> {
        self.quotas.get(link)?.as_ref()
    }

    /// The flows of `[[competitor]]`, in the order of the file.
    pub fn competitors(&self) -> impl Iterator<Item = &Flow> {
        self.flows
            .iter()
            .filter(|flow| flow.origin == Origin::Competitor)
    }
}

/// A sequence of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The name that results use.
    pub name: String,
    /// Indices into [`Scenario::links`]; at least one. The way back passes them in reverse.
    pub hops: Vec<usize>,
}

/// A client's application, a server's, and the transport between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The name that results use.
    pub name: String,
    /// Which table of the file it comes from.
    pub origin: Origin,
    /// How the stream is carried.
    pub protocol: Protocol,
    /// The settings of its TCP or MPTCP endpoints.
    pub transport: Config,
    /// Indices into [`Scenario::paths`] that it uses, in this order; `tcp` and `udp` use just one.
    pub paths: Vec<usize>,
    /// Each of its `count` connections uses one of `paths` in turn, instead of all of them.
    pub in_turn: bool,
    /// What the application sends.
    pub traffic: Traffic,
    /// When it starts.
    pub start: Time,
    /// How many connections of this kind there are.
    pub count: u32,
}

/// The MTU of the links, unless the file says otherwise (RFC 894).
pub(crate) const ETHERNET_MTU: u32 = 1500;

impl Flow {
    /// The name of a flow of [`Origin::Short`].
    pub const MEASURED: &'static str = "measured";

    /// The key of the random streams of one of its `count` connections.
    #[must_use]
    pub fn stream(&self, number: u32) -> String {
        match self.origin {
            Origin::Short => "flow".to_owned(),
            Origin::Flow => format!("flow/{}/{number}", self.name),
            Origin::Competitor => format!("competitor/{}/{number}", self.name),
        }
    }

    /// One of its `count` connections as a flow by itself, with its own paths.
    #[must_use]
    pub fn alone(&self, number: u32) -> Flow {
        Flow {
            paths: match self.in_turn {
                true => vec![self.paths[number as usize % self.paths.len()]],
                false => self.paths.clone(),
            },
            in_turn: false,
            count: 1,
            ..self.clone()
        }
    }

    /// How many paths each of its connections uses.
    #[must_use]
    pub fn paths_each(&self) -> usize {
        if self.in_turn { 1 } else { self.paths.len() }
    }

    /// The key of this name in the scenario file, such as `flow.video.segment`.
    #[must_use]
    pub fn key(&self, key: &str) -> String {
        match self.origin {
            Origin::Short => format!("transport.{key}"),
            Origin::Flow => format!("flow.{}.{key}", self.name),
            Origin::Competitor => format!("competitor.{}.{key}", self.name),
        }
    }

    /// The bytes that a virtual device puts before each packet of its endpoints.
    #[must_use]
    pub fn packet_overhead(&self) -> u32 {
        self.protocol.packet_overhead(self.transport.ip_version)
    }

    /// Payload of a full packet: of a frame where its size is fixed, else of a segment.
    #[must_use]
    pub fn payload(&self) -> Bytes {
        match &self.protocol {
            Protocol::Bas(aggregation) => aggregation.packet.unwrap_or(self.transport.segment),
            Protocol::Tcp
            | Protocol::Udp
            | Protocol::StripedTcp(_)
            | Protocol::Mptcp
            | Protocol::MptcpNs3 => self.transport.segment,
        }
    }

    /// Bytes of an IP packet on a link with a full segment or datagram, all headers counted.
    #[must_use]
    pub fn full_packet(&self) -> u64 {
        if self.protocol == Protocol::Udp {
            return self.transport.segment.as_u64() + u64::from(self.datagram_headers());
        }
        let inside = ETHERNET_MTU - self.packet_overhead();
        let headers = u64::from(ETHERNET_MTU) - self.transport.segment_for(inside).as_u64();
        self.transport.segment.as_u64() + headers
    }

    /// The header bytes before a datagram's payload, from the IP header on.
    #[must_use]
    pub fn datagram_headers(&self) -> u32 {
        datagram_headers(self.transport.ip_version)
    }

    /// How many TCP connections or subflows it has over its paths at a time; 1 for datagrams.
    #[must_use]
    pub fn subflows(&self) -> usize {
        match self.protocol {
            Protocol::Mptcp | Protocol::MptcpNs3 => {
                self.paths_each() * self.transport.subflows.per_path as usize
            }
            Protocol::Bas(_) => self.paths_each(),
            Protocol::Tcp | Protocol::Udp | Protocol::StripedTcp(_) => 1,
        }
    }
}

/// Which table of the file a flow comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `[transport]` with `[traffic]`.
    Short,
    /// `[[flow]]`.
    Flow,
    /// `[[competitor]]`.
    Competitor,
}
