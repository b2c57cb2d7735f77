//! How the bytes of one application's stream are carried.

use ropewalk_quantities::Bytes;
use ropewalk_striping::tunnel::{ENVELOPE, Scheduler};
use ropewalk_transport::algorithm::Declared;
use ropewalk_transport::{Config, IpVersion, SchedulerConfig};

/// RFC 768.
const UDP_HEADER: u32 = 8;

/// What stands before a datagram's payload, from the IP header on, in bytes.
pub(crate) fn datagram_headers(ip_version: IpVersion) -> u32 {
    ip_version.header_len() + UDP_HEADER
}

/// How the bytes of one application's stream are carried.
#[derive(Clone, Debug, PartialEq)]
pub enum Protocol {
    /// One TCP connection on one path.
    Tcp,
    /// Datagrams on one path, which nothing controls and nobody acknowledges (RFC 768).
    Udp,
    /// MPTCP (RFC 8684), a subflow on each path.
    Mptcp,
    /// The MPTCP of an ns-3 module, which is not RFC 8684 (`mptcp` with profile `mptcp-ns3`).
    MptcpNs3,
    /// One TCP connection whose packets a virtual device lays on the paths one by one (song-2018).
    StripedTcp(VirtualDevice),
    /// Bandwidth aggregation above TCP, a connection on each path (elahi-2011).
    Bas(Aggregation),
}

/// What a virtual device is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VirtualDevice {
    /// What it is.
    pub kind: Device,
    /// Which path takes the next packet; a [`Device::Naive`] has no earliest arrival.
    pub scheduler: Scheduler,
}

/// What lays the packets of `striped-tcp` on paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// As song-2018 has it: packets take the paths in turn, whatever is on them, and arrive in
    /// whatever order the paths bring them.
    Naive,
    /// The gateway's own tunnel, which keeps to the links' rates and puts packets in order again.
    Tunnel,
}

/// What bandwidth aggregation is set to, beside its connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregation {
    /// Which connection takes which data.
    pub scheduling: SchedulerConfig,
    /// Payload of a frame; follows a connection's rate if `None`.
    pub packet: Option<Bytes>,
    /// The main send buffer: bounds what waits for one of the connections.
    pub main_buffer: Bytes,
    /// A connection is given nothing while so much of it was never sent (TCP_NOTSENT_LOWAT); two
    /// frames if `None`.
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

    /// Whether it has subflows: RFC 8684's, or the ns-3 module's.
    #[must_use]
    pub fn has_subflows(&self) -> bool {
        matches!(self, Protocol::Mptcp | Protocol::MptcpNs3)
    }

    /// Whether it goes over one path alone.
    #[must_use]
    pub fn takes_one_path(&self) -> bool {
        matches!(self, Protocol::Tcp | Protocol::Udp)
    }

    /// What chooses among its paths, of endpoints that are set so.
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

    /// What stands before each packet of its endpoints, in bytes: a virtual device's own IP and UDP
    /// headers, and of the tunnel what it seals the packet in.
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

    /// The device of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Device> {
        Device::ALL.into_iter().find(|device| device.name() == name)
    }

    /// What it schedules by if nothing else is said.
    #[must_use]
    pub fn usual_scheduler(self) -> Scheduler {
        match self {
            Device::Naive => Scheduler::RoundRobin,
            Device::Tunnel => Scheduler::EarliestArrival,
        }
    }

    /// What it can schedule by.
    pub fn schedulers(self) -> impl Iterator<Item = Scheduler> {
        let is_its = move |scheduler: &Scheduler| {
            self == Device::Tunnel
                || !matches!(scheduler, Scheduler::EarliestArrival | Scheduler::Redundant)
        };
        Scheduler::ALL.into_iter().filter(is_its)
    }
}

impl Aggregation {
    /// What both ends of the association are set to, over connections that are set so.
    #[must_use]
    pub fn association(&self, transport: &Config) -> ropewalk_striping::Config {
        let (waiting, in_flight) = (self.main_buffer, transport.receive_buffer);
        let send_buffer = Bytes::new(waiting.as_u64().saturating_add(in_flight.as_u64()));
        let usual = ropewalk_striping::Config::default();
        ropewalk_striping::Config {
            scheduling: self.scheduling.clone(),
            payload: self.packet,
            buffer: transport.receive_buffer,
            send_buffer,
            memory: send_buffer.max(usual.memory),
            ..usual
        }
    }
}
