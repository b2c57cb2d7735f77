//! Protocols that carry an application's stream.

use ropewalk_quantities::{Bytes, named};
use ropewalk_striping::tunnel::{SINGLE_PACKET_OVERHEAD, Scheduler};
use ropewalk_transport::algorithm::AlgorithmConfig;
use ropewalk_transport::{Config, IpVersion, SchedulerConfig};

const UDP_HEADER: u32 = 8;

pub(crate) fn datagram_headers(ip_version: IpVersion) -> u32 {
    ip_version.header_len() + UDP_HEADER
}

/// Protocol that carries an application's stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Protocol {
    /// One TCP connection on one path.
    Tcp,
    /// Datagrams on one path, without congestion control (RFC 768).
    Udp,
    /// MPTCP (RFC 8684), with a subflow on each path.
    Mptcp,
    /// MPTCP of an ns-3 module, unlike RFC 8684 (`mptcp` with profile `mptcp-ns3`).
    MptcpNs3,
    /// One TCP connection in a tunnel that distributes its packets over the paths.
    StripedTcp(VirtualDevice),
    /// Bandwidth aggregation above TCP, with a connection on each path (elahi-2011).
    Aggregation(Aggregation),
    /// The gateway's client, which chooses by the traffic that it carries.
    Gateway(Carried),
}

/// Traffic of a program that the gateway's client carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Carried {
    /// A TCP connection: it ends at the client, and its bytes use an aggregation.
    Tcp(Aggregation),
    /// Packets with congestion control by the program, in the tunnel, such as QUIC's.
    Quic,
    /// Datagrams without congestion control, in the tunnel.
    Udp,
}

impl Carried {
    /// All names in scenario files, in documentation order.
    pub const NAMES: [&'static str; 3] = ["tcp", "quic", "udp"];

    /// Name in a scenario file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Carried::Tcp(_) => "tcp",
            Carried::Quic => "quic",
            Carried::Udp => "udp",
        }
    }
}

/// Settings of a virtual device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualDevice {
    /// Type of device.
    pub kind: Device,
    /// Scheduler of packets. [`Device::Naive`] does not support earliest arrival.
    pub scheduler: Scheduler,
}

named! {
    /// Device that distributes the packets of `striped-tcp` over paths.
    pub enum Device {
        /// As in song-2018: packets take paths round-robin, without regard to queues, and are delivered
        /// in order of arrival.
        Naive = "naive",
        /// The gateway's tunnel, which respects link rates and restores packet order.
        Tunnel = "tunnel",
    }
}

/// Settings of bandwidth aggregation, apart from its connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// Scheduler of data over connections.
    pub scheduling: SchedulerConfig,
    /// Payload of a frame; `None`: adapts to the connection's rate.
    pub packet: Option<Bytes>,
    /// Header of a data frame, 16 bytes in the gateway's protocol. Only the lengths on the links follow it: the
    /// association counts the gateway's header in its estimates.
    pub header: Bytes,
    /// Main send buffer: limit of data not assigned to a connection.
    pub main_buffer: Bytes,
    /// Limit of unsent data in a connection (TCP_NOTSENT_LOWAT); `None`: two frames.
    pub notsent_lowat: Option<Bytes>,
}

impl Protocol {
    /// All names in scenario files, in documentation order.
    pub const NAMES: [&'static str; 6] = [
        "tcp",
        "udp",
        "striped-tcp",
        "mptcp",
        "aggregation",
        "gateway",
    ];

    /// Older names, each with the name that it stands for.
    pub const ALIASES: [(&'static str, &'static str); 1] = [("bas", "aggregation")];

    /// Name in a scenario file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
            Protocol::Mptcp | Protocol::MptcpNs3 => "mptcp",
            Protocol::StripedTcp(_) => "striped-tcp",
            Protocol::Aggregation(_) => "aggregation",
            Protocol::Gateway(_) => "gateway",
        }
    }

    /// Aggregation that carries the stream, alone or as a part of the gateway.
    #[must_use]
    pub fn aggregation(&self) -> Option<&Aggregation> {
        match self {
            Protocol::Aggregation(aggregation) | Protocol::Gateway(Carried::Tcp(aggregation)) => {
                Some(aggregation)
            }
            _ => None,
        }
    }

    /// Virtual device that carries the packets, alone or as a part of the gateway.
    #[must_use]
    pub fn device(&self) -> Option<VirtualDevice> {
        match self {
            Protocol::StripedTcp(device) => Some(*device),
            Protocol::Gateway(Carried::Quic | Carried::Udp) => Some(VirtualDevice {
                kind: Device::Tunnel,
                scheduler: Device::Tunnel.default_scheduler(),
            }),
            _ => None,
        }
    }

    /// Whether it carries datagrams without congestion control.
    #[must_use]
    pub fn is_datagrams(&self) -> bool {
        matches!(self, Protocol::Udp | Protocol::Gateway(Carried::Udp))
    }

    /// Name in JSON output, which keeps the older name of aggregation.
    #[must_use]
    pub fn json_name(&self) -> &'static str {
        match self {
            Protocol::Aggregation(_) => "bas",
            _ => self.name(),
        }
    }

    /// Whether it has subflows, of RFC 8684 or the ns-3 module.
    #[must_use]
    pub fn has_subflows(&self) -> bool {
        matches!(self, Protocol::Mptcp | Protocol::MptcpNs3)
    }

    /// Whether it uses exactly one path.
    #[must_use]
    pub fn takes_one_path(&self) -> bool {
        matches!(self, Protocol::Tcp | Protocol::Udp)
    }

    /// Path scheduler, given the settings of its endpoints.
    #[must_use]
    pub fn scheduler(&self, transport: &Config) -> SchedulerConfig {
        match (self.device(), self.aggregation()) {
            (Some(device), _) => SchedulerConfig::from_name(device.scheduler.name())
                .expect("a scheduler has one name everywhere"),
            (_, Some(aggregation)) => aggregation.scheduling.clone(),
            _ => transport.scheduler.clone(),
        }
    }

    /// Bytes added to each packet of its endpoints: IP and UDP headers of a virtual device, plus
    /// encryption overhead of the tunnel.
    #[must_use]
    pub fn packet_overhead(&self, ip_version: IpVersion) -> u32 {
        let outside = datagram_headers(ip_version);
        match self.device().map(|device| device.kind) {
            None => 0,
            Some(Device::Naive) => outside,
            Some(Device::Tunnel) => outside + SINGLE_PACKET_OVERHEAD,
        }
    }
}

impl Device {
    /// Default scheduler.
    #[must_use]
    pub fn default_scheduler(self) -> Scheduler {
        match self {
            Device::Naive => Scheduler::RoundRobin,
            Device::Tunnel => Scheduler::EarliestArrival,
        }
    }

    /// Supported schedulers.
    pub fn schedulers(self) -> impl Iterator<Item = Scheduler> {
        let is_its = move |scheduler: &Scheduler| {
            self == Device::Tunnel
                || !matches!(scheduler, Scheduler::EarliestArrival | Scheduler::Redundant)
        };
        Scheduler::ALL.into_iter().filter(is_its)
    }
}

impl Aggregation {
    /// Settings of the association, given the settings of its connections.
    #[must_use]
    pub fn association(&self, transport: &Config) -> ropewalk_striping::Config {
        let (waiting, in_flight) = (self.main_buffer, transport.receive_buffer.size);
        let send_buffer = Bytes::new(waiting.as_u64().saturating_add(in_flight.as_u64()));
        let usual = ropewalk_striping::Config::default();
        ropewalk_striping::Config {
            scheduling: self.scheduling.clone(),
            payload: self.packet,
            buffer: transport.receive_buffer.size,
            send_buffer,
            memory: send_buffer.max(usual.memory),
            ..usual
        }
    }
}
