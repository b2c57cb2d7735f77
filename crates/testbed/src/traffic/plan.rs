//! The plan of a connection: the tasks of a client and its server.

use std::net::{IpAddr, SocketAddr};

use ropewalk_network::{LinkConfig, stream};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Traffic;
use ropewalk_simulator::{Conversation, Schedule};

use super::pattern::Pattern;

/// One connection: its data, its protocol, and how it is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The flow's name in random streams; the simulator's measured flow is `flow`.
    pub name: String,
    /// The run's seed.
    pub seed: u64,
    /// The protocol of the sockets.
    pub protocol: SocketProtocol,
    /// Congestion control by the kernel's name (`cubic`, `reno`), set on the socket: what a
    /// namespace has by default depends on the machine. Datagrams have none.
    pub congestion: Option<String>,
    /// What the client's application sends.
    pub traffic: Traffic,
    /// The delay of a bulk transfer is measured for each piece of this size.
    pub segment: Bytes,
    /// The measured time begins after it.
    pub warmup: Time,
    /// Everything ends then at the latest.
    pub duration: Time,
    /// The step of the timeline; `None` records none.
    pub step: Option<Time>,
    /// Nagle's algorithm. Messages are sent without it (TCP_NODELAY), as in the simulator.
    pub nagle: bool,
    /// A fixed send buffer (`sk_sndbuf`); with `None`, the kernel lets it grow up to the namespace's
    /// net.ipv4.tcp_wmem.
    pub send_buffer: Option<Bytes>,
    /// A fixed receive buffer (`sk_rcvbuf`), overhead included; with `None`, the kernel lets it grow up to
    /// the namespace's net.ipv4.tcp_rmem. A fixed one has its full size from the start, unlike that of an
    /// ordinary program.
    pub receive_buffer: Option<Bytes>,
    /// TCP_NOTSENT_LOWAT: the application is woken when less than this has not been sent yet; `None` is the
    /// kernel's default, without a limit.
    pub unsent: Option<u32>,
    /// A SOCKS5 proxy (RFC 1928) that the client goes through; the time that this takes counts.
    pub proxy: Option<SocketAddr>,
    /// Settings of [`SocketProtocol::Udp`] alone.
    pub datagrams: Option<DatagramSettings>,
    /// The paths of the connection. It is opened on the first; those after it name the subflows that the path
    /// manager adds.
    pub paths: Vec<PathEnds>,
}

/// The protocol of a connection's sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketProtocol {
    /// One TCP connection; it may go through a tunnel or a proxy.
    Tcp,
    /// One MPTCP connection. If it falls back to TCP, that is an error.
    Mptcp,
    /// Datagrams (RFC 768), without congestion control and acknowledgements.
    Udp,
}

/// What a sender and a receiver of datagrams know of the links between them.
#[derive(Clone, Debug, PartialEq)]
pub struct DatagramSettings {
    /// The first link, which a bulk sender keeps busy and has for itself.
    pub first: LinkConfig,
    /// The header bytes before each payload, from the IP header on.
    pub headers: u32,
    /// A finite transfer is over when all is sent and nothing has arrived for this long.
    pub silence_timeout: Time,
}

/// The two ends of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathEnds {
    /// The name that results use.
    pub name: String,
    /// The client's address, which it binds to.
    pub client: IpAddr,
    /// The server's address.
    pub server: IpAddr,
    /// The client's device (SO_BINDTODEVICE). For [`SocketProtocol::Tcp`] alone: with MPTCP it would hold
    /// all subflows.
    pub device: Option<String>,
}

impl Plan {
    /// A plan without options: seed 1, segments for an MTU of 1500 bytes, the kernel's own congestion control and
    /// buffers, Nagle's algorithm, no warm-up, no timeline, no proxy.
    pub fn new(
        protocol: SocketProtocol,
        traffic: Traffic,
        duration: Time,
        paths: Vec<PathEnds>,
    ) -> Plan {
        Plan {
            name: "flow".to_owned(),
            seed: 1,
            protocol,
            congestion: None,
            traffic,
            segment: Bytes::new(1448),
            warmup: Time::ZERO,
            duration,
            step: None,
            nagle: true,
            send_buffer: None,
            receive_buffer: None,
            unsent: None,
            proxy: None,
            datagrams: None,
            paths,
        }
    }

    /// What its server requests, if it does.
    pub(crate) fn conversation(&self) -> Option<Conversation> {
        let Traffic::Requested(requested) = &self.traffic else {
            return None;
        };
        let random = stream(self.seed, &format!("{}/traffic", self.name));
        let times = [Time::ZERO, self.warmup, self.duration];
        Some(Conversation::new(requested, times, random, true))
    }

    /// When its messages are due; `None` for bulk, and for requested data.
    pub(crate) fn schedule(&self) -> Option<Schedule> {
        Schedule::new(
            &self.traffic,
            Time::ZERO,
            self.duration,
            stream(self.seed, &format!("{}/traffic", self.name)),
        )
    }

    /// The bytes of its stream.
    pub(crate) fn pattern(&self) -> Pattern {
        Pattern::new(self.seed)
    }

    /// The bytes of a message; for a bulk transfer, of a full segment or datagram.
    pub(crate) fn unit(&self) -> u64 {
        match self.traffic {
            Traffic::Bulk { .. } | Traffic::Video(_) | Traffic::Requested(_) => {
                self.segment.as_u64()
            }
            Traffic::Messages { message, .. } => message.as_u64(),
        }
    }

    /// All bytes that it will send, if that is known.
    pub(crate) fn size(&self) -> Option<u64> {
        match self.traffic {
            Traffic::Bulk { size } => size.map(Bytes::as_u64),
            Traffic::Messages { .. } | Traffic::Video(_) | Traffic::Requested(_) => None,
        }
    }
}
