//! How the bytes of one application's stream are carried.

use ropewalk_quantities::Bytes;
use ropewalk_striping::tunnel::{ENVELOPE, Scheduler};
use ropewalk_transport::algorithm::Declared;
use ropewalk_transport::{Config, IpVersion, SchedulerConfig};

/// RFC 768.
const UDP_HEADER: u32 = 8;

/// The header bytes before a datagram's payload, from the IP header on.
pub(crate) fn datagram_headers(ip_version: IpVersion) -> u32 {
    ip_version.header_len() + UDP_HEADER
}

/// How the bytes of one application's stream are carried.
#[derive(Clone, Debug, PartialEq)]
pub enum Protocol {
    /// One TCP connection on one path.
    Tcp,
    /// Datagrams on one path, without congestion control and acknowledgements (RFC 768).
    Udp,
    /// MPTCP (RFC 8684), a subflow on each path.
    Mptcp,
    /// The MPTCP of an ns-3 module, which is not RFC 8684 (`mptcp` with profile `mptcp-ns3`).
    MptcpNs3,
    /// One TCP connection whose packets a virtual device distributes over the paths one by one (song-2018).
    StripedTcp(VirtualDevice),
    /// Bandwidth aggregation above TCP, a connection on each path (elahi-2011).
    Bas(Aggregation),
}

/// The settings of a virtual device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualDevice {
    /// Which device it is.
    pub kind: Device,
    /// Which path takes the next packet. [`Device::Naive`] does not offer earliest arrival.
    pub scheduler: Scheduler,
}

/// The device that distributes the packets of `striped-tcp` over paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// As in song-2018: packets take the paths in turn, whatever is queued there, and are delivered in the
    /// order in which they arrive.
    Naive,
    /// The gateway's own tunnel, which keeps to the links' rates and restores the order of packets.
    Tunnel,
}

/// The settings of bandwidth aggregation, apart from those of its connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// Which connection takes which data.
    pub scheduling: SchedulerConfig,
    /// Payload of a frame; with `None`, it follows the connection's rate.
    pub packet: Option<Bytes>,
    /// The main send buffer: bounds the data that no connection has taken yet.
    pub main_buffer: Bytes,
    /// A connection gets no new data while it has this much unsent (TCP_NOTSENT_LOWAT); with `None`, two
    /// frames.
    pub notsent_lowat: Option<Bytes>,
}

impl Protocol {
    /// The names of all, in the order of the documentation.
    pub const NAMES: [&'static str; 5] = ["tcp", "udp", "striped-tcp", "mptcp", "bas"];

    /// Its name in a scenario file.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
            Protocol::Mptcp | Protocol::MptcpNs3 => "mptcp",
            Protocol::StripedTcp(_) => "striped-tcp",
            Protocol::Bas(_) => "bas",
        }
    }

    /// Whether it has subflows: RFC 8684's or the ns-3 module's.
    #[must_use]
    pub fn has_subflows(&self) -> bool {
        matches!(self, Protocol::Mptcp | Protocol::MptcpNs3)
    }

    /// Whether it uses exactly one path.
    #[must_use]
    pub fn takes_one_path(&self) -> bool {
        matches!(self, Protocol::Tcp | Protocol::Udp)
    }

    /// The scheduler that chooses among its paths, given the settings of its endpoints.
    #[must_use]
    pub fn scheduler(&self, transport: &Config) -> SchedulerConfig {
        match self {
            Protocol::Tcp | Protocol::Udp | Protocol::Mptcp | Protocol::MptcpNs3 => {
                transport.scheduler.clone()
            }
            Protocol::StripedTcp(device) => SchedulerConfig::from_name(device.scheduler.name())
                .expect("a scheduler has one name everywhere"),
            Protocol::Bas(aggregation) => aggregation.scheduling.clone(),
        }
    }

    /// The bytes before each packet of its endpoints: a virtual device's own IP and UDP headers, and for the
    /// tunnel also its encryption overhead.
    #[must_use]
    pub fn packet_overhead(&self, ip_version: IpVersion) -> u32 {
        let outside = datagram_headers(ip_version);
        match self {
            Protocol::Tcp
            | Protocol::Udp
            | Protocol::Mptcp
            | Protocol::MptcpNs3
            | Protocol::Bas(_) => 0,
            Protocol::StripedTcp(device) => match device.kind {
                Device::Naive => outside,
                Device::Tunnel => outside + ENVELOPE,
            },
        }
    }
}

impl Device {
    /// All of them.
    pub const ALL: [Device; 2] = [Device::Naive, Device::Tunnel];

    /// Its name in a scenario file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Device::Naive => "naive",
            Device::Tunnel => "tunnel",
        }
    }

    /// The device with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Device> {
        Device::ALL.into_iter().find(|device| device.name() == name)
    }

    /// The default scheduler.
    #[must_use]
    pub fn usual_scheduler(self) -> Scheduler {
        match self {
            Device::Naive => Scheduler::RoundRobin,
            Device::Tunnel => Scheduler::EarliestArrival,
        }
    }

    /// The schedulers that it supports.
    pub fn schedulers(self) -> impl Iterator<Item = Scheduler> {
        let is_its = move |scheduler: &Scheduler| {
            self == Device::Tunnel
                || !matches!(scheduler, Scheduler::EarliestArrival | Scheduler::Redundant)
        };
        Scheduler::ALL.into_iter().filter(is_its)
    }
}

impl Aggregation {
    /// The settings of both ends of the association, given the settings of its connections.
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
