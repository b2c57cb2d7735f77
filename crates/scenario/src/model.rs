//! A resolved scenario: defaults filled in, references resolved.

mod mesh;
mod middlebox;
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
pub use middlebox::StripsMptcp;
pub(crate) use protocol::datagram_headers;
pub use protocol::{Aggregation, Carried, Device, Protocol, VirtualDevice};
pub use quota::Quota;
pub use requested::{
    ChunkSizes, Chunks, Ladder, ObjectKind, Page, PageObject, Quality, Requested, Requests,
    ThinkDistribution, ThinkTime, Web,
};
pub use traffic::{Spacing, Traffic};
pub use video::{Frames, Preset, Video};
pub use wireless::{Channel, Node, RadioLink, WifiProfile, Wireless};

/// One experiment: links, paths and flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Title.
    pub title: String,
    /// Latest end of the run.
    pub duration: Time,
    /// Start of measurements, which excludes start-up effects.
    pub warmup: Time,
    /// At least one, with unique names.
    pub links: Vec<LinkConfig>,
    /// Data quota of each link, if any.
    pub quotas: Vec<Option<Quota>>,
    /// Middlebox of each link, if any.
    pub middleboxes: Vec<Option<StripsMptcp>>,
    /// 802.11 links. The [`LinkConfig`] of such a link applies without rate, delay and queue, and
    /// its loss applies to each transmission of a frame.
    pub wireless: Wireless,
    /// The mesh of `[mesh]`, if any.
    pub mesh: Option<Mesh>,
    /// At least one, with unique names. By default each link is a path of the same name.
    pub paths: Vec<Path>,
    /// At least one, with unique names. The first is the measured flow of single-flow results;
    /// competitors come last.
    pub flows: Vec<Flow>,
    /// Caveats of the results, stored with them.
    pub warnings: Vec<String>,
}

impl Scenario {
    /// The measured flow of single-flow results.
    #[must_use]
    pub fn measured_flow(&self) -> &Flow {
        &self.flows[0]
    }

    /// Data quota of a link, if any.
    #[must_use]
    pub fn quota(&self, link: usize) -> Option<&Quota> {
        self.quotas.get(link)?.as_ref()
    }

    /// The MPTCP options that middleboxes of a path remove.
    #[must_use]
    pub fn strips_mptcp(&self, path: usize) -> Option<StripsMptcp> {
        let hops = self.paths[path].hops.iter();
        hops.filter_map(|hop| *self.middleboxes.get(*hop)?).max()
    }

    /// Flows of `[[competitor]]`, in file order.
    pub fn competitors(&self) -> impl Iterator<Item = &Flow> {
        self.flows
            .iter()
            .filter(|flow| flow.origin == FlowOrigin::Competitor)
    }
}

/// A sequence of links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Name in results.
    pub name: String,
    /// Indices into [`Scenario::links`], at least one. The reverse direction uses them in reverse
    /// order.
    pub hops: Vec<usize>,
}

/// Application traffic over a transport connection or datagrams.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Name in results.
    pub name: String,
    /// Table of the file that declares it.
    pub origin: FlowOrigin,
    /// Protocol of the stream.
    pub protocol: Protocol,
    /// Settings of its TCP or MPTCP endpoints.
    pub transport: Config,
    /// Indices into [`Scenario::paths`] in order of use; `tcp` and `udp` have one.
    pub paths: Vec<usize>,
    /// Round-robin assignment: each of the `count` connections uses one of `paths`, not all.
    pub in_turn: bool,
    /// Application traffic.
    pub traffic: Traffic,
    /// Start time.
    pub start: Time,
    /// Number of connections of this kind.
    pub count: u32,
}

pub(crate) const ETHERNET_MTU: u32 = 1500;

impl Flow {
    /// Name of a flow of [`FlowOrigin::Shorthand`].
    pub const MEASURED: &'static str = "measured";

    /// Key of the random streams of one of its `count` connections.
    #[must_use]
    pub fn stream(&self, number: u32) -> String {
        match self.origin {
            FlowOrigin::Shorthand => "flow".to_owned(),
            FlowOrigin::Flow => format!("flow/{}/{number}", self.name),
            FlowOrigin::Competitor => format!("competitor/{}/{number}", self.name),
        }
    }

    /// One of its `count` connections as a flow, with its own paths.
    #[must_use]
    pub fn instance(&self, number: u32) -> Flow {
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

    /// Number of paths of each connection.
    #[must_use]
    pub fn paths_per_connection(&self) -> usize {
        if self.in_turn { 1 } else { self.paths.len() }
    }

    /// The scenario key of this name, such as `flow.video.segment`.
    #[must_use]
    pub fn key(&self, key: &str) -> String {
        match self.origin {
            FlowOrigin::Shorthand => format!("transport.{key}"),
            FlowOrigin::Flow => format!("flow.{}.{key}", self.name),
            FlowOrigin::Competitor => format!("competitor.{}.{key}", self.name),
        }
    }

    /// Bytes that a tunnel adds to each packet of its endpoints.
    #[must_use]
    pub fn packet_overhead(&self) -> u32 {
        self.protocol.packet_overhead(self.transport.ip_version)
    }

    /// Payload of a full frame if its size is fixed, otherwise of a full segment.
    #[must_use]
    pub fn payload(&self) -> Bytes {
        let packet = self.protocol.aggregation().and_then(|own| own.packet);
        packet.unwrap_or(self.transport.segment)
    }

    /// Bytes of an IP packet on a link with a full segment or datagram, headers included.
    #[must_use]
    pub fn full_packet(&self) -> u64 {
        if self.protocol.is_datagrams() {
            let headers = self.datagram_headers() + self.packet_overhead();
            return self.transport.segment.as_u64() + u64::from(headers);
        }
        let inside = ETHERNET_MTU - self.packet_overhead();
        let headers = u64::from(ETHERNET_MTU) - self.transport.segment_for(inside).as_u64();
        self.transport.segment.as_u64() + headers
    }

    /// Header bytes of a datagram, IP header included.
    #[must_use]
    pub fn datagram_headers(&self) -> u32 {
        datagram_headers(self.transport.ip_version)
    }

    /// Number of simultaneous TCP connections or subflows; 1 for datagrams.
    #[must_use]
    pub fn subflows(&self) -> usize {
        match self.protocol {
            Protocol::Mptcp | Protocol::MptcpNs3 => {
                self.paths_per_connection() * self.transport.subflows.per_path as usize
            }
            Protocol::Aggregation(_) | Protocol::Gateway(Carried::Tcp(_)) => {
                self.paths_per_connection()
            }
            Protocol::Tcp
            | Protocol::Udp
            | Protocol::StripedTcp(_)
            | Protocol::Gateway(Carried::Quic | Carried::Udp) => 1,
        }
    }
}

/// Table of the file that declares a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowOrigin {
    /// `[transport]` with `[traffic]`.
    Shorthand,
    /// `[[flow]]`.
    Flow,
    /// `[[competitor]]`.
    Competitor,
}
