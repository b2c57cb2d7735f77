//! ConnectionPlan of a connection: the tasks of a client and its server.

use std::net::{IpAddr, SocketAddr};

use ropewalk_network::{LinkConfig, stream};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Traffic;
use ropewalk_simulator::{MessageSchedule, RequestResponse};

use super::pattern::Pattern;

/// One connection: data, protocol, and measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct ConnectionPlan {
    /// Name of the flow's random streams; `flow` for the simulator's measured flow.
    pub name: String,
    /// Seed of the run.
    pub seed: u64,
    /// Protocol of the sockets.
    pub protocol: SocketProtocol,
    /// Congestion control by the kernel's name (`cubic`, `reno`), set on the socket, since defaults
    /// depend on the machine. Datagrams have none.
    pub congestion: Option<String>,
    /// Traffic of the client's application.
    pub traffic: Traffic,
    /// Piece size for the delays of a bulk transfer.
    pub segment: Bytes,
    /// The measured time begins after it.
    pub warmup: Time,
    /// Latest end.
    pub duration: Time,
    /// Step of the timeline; `None`: no timeline.
    pub step: Option<Time>,
    /// Nagle's algorithm. Messages are sent without it (TCP_NODELAY), as in the simulator.
    pub nagle: bool,
    /// A fixed send buffer (`sk_sndbuf`); `None`: grows up to the namespace's net.ipv4.tcp_wmem.
    pub send_buffer: Option<Bytes>,
    /// A fixed receive buffer (`sk_rcvbuf`), overhead included, with its full size from the start;
    /// `None`: grows up to the namespace's net.ipv4.tcp_rmem.
    pub receive_buffer: Option<Bytes>,
    /// TCP_NOTSENT_LOWAT: wakes the application when less is unsent; `None`: the kernel's default,
    /// unlimited.
    pub unsent: Option<u32>,
    /// A SOCKS5 proxy (RFC 1928) of the client, whose time counts.
    pub proxy: Option<SocketAddr>,
    /// Settings of [`SocketProtocol::Udp`] alone.
    pub datagrams: Option<DatagramSettings>,
    /// Paths of the connection. It is opened on the first; the others name the subflows that the
    /// path manager adds.
    pub paths: Vec<PathEnds>,
}

/// Protocol of a connection's sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketProtocol {
    /// One TCP connection, possibly through a tunnel or a proxy.
    Tcp,
    /// One MPTCP connection; falling back to TCP is an error.
    Mptcp,
    /// Datagrams (RFC 768), without congestion control and acknowledgements.
    Udp,
}

/// Link parameters known to a sender and a receiver of datagrams.
#[derive(Clone, Debug, PartialEq)]
pub struct DatagramSettings {
    /// The first link, which a bulk sender keeps busy and no other flow uses.
    pub first: LinkConfig,
    /// Header bytes of each datagram, IP header included.
    pub headers: u32,
    /// Time without arrivals after which a completely sent transfer is over.
    pub silence_timeout: Time,
}

/// The two ends of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathEnds {
    /// Name in results.
    pub name: String,
    /// Client address to bind to.
    pub client: IpAddr,
    /// Server address.
    pub server: IpAddr,
    /// Client device (SO_BINDTODEVICE), for [`SocketProtocol::Tcp`] only: it would bind all
    /// subflows of MPTCP.
    pub device: Option<String>,
}

impl ConnectionPlan {
    /// A plan with defaults: seed 1, segments for an MTU of 1500 bytes, the kernel's congestion
    /// control and buffers, Nagle's algorithm, no warm-up, timeline or proxy.
    pub fn new(
        protocol: SocketProtocol,
        traffic: Traffic,
        duration: Time,
        paths: Vec<PathEnds>,
    ) -> ConnectionPlan {
        ConnectionPlan {
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

    pub(crate) fn requests(&self) -> Option<RequestResponse> {
        let Traffic::Requested(requested) = &self.traffic else {
            return None;
        };
        let random = stream(self.seed, &format!("{}/traffic", self.name));
        let times = [Time::ZERO, self.warmup, self.duration];
        Some(RequestResponse::new(requested, times, random, true))
    }

    /// Due times of messages; `None` for bulk and requested data.
    pub(crate) fn schedule(&self) -> Option<MessageSchedule> {
        MessageSchedule::new(
            &self.traffic,
            Time::ZERO,
            self.duration,
            stream(self.seed, &format!("{}/traffic", self.name)),
        )
    }

    pub(crate) fn pattern(&self) -> Pattern {
        Pattern::new(self.seed)
    }

    /// Bytes of a message; for a bulk transfer, of a full segment or datagram.
    pub(crate) fn unit(&self) -> u64 {
        match self.traffic {
            Traffic::Bulk { .. } | Traffic::Video(_) | Traffic::Requested(_) => {
                self.segment.as_u64()
            }
            Traffic::Messages { message, .. } => message.as_u64(),
        }
    }

    pub(crate) fn size(&self) -> Option<u64> {
        match self.traffic {
            Traffic::Bulk { size } => size.map(Bytes::as_u64),
            Traffic::Messages { .. } | Traffic::Video(_) | Traffic::Requested(_) => None,
        }
    }
}
