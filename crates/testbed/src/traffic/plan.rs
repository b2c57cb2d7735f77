//! What a client and its server are to do.

use std::net::{IpAddr, SocketAddr};

use ropewalk_network::{LinkConfig, stream};
use ropewalk_quantities::{Bytes, Time};
use ropewalk_scenario::Traffic;
use ropewalk_simulator::{Conversation, Schedule};

use super::pattern::Pattern;

/// One connection: what is sent over it, how, and what is measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The flow's name in random streams; the simulator's measured flow is `flow`.
    pub name: String,
    /// The run's seed.
    pub seed: u64,
    /// What carries the bytes.
    pub carrier: Carrier,
    /// Congestion control by the kernel's name (`cubic`, `reno`), set on the socket: what a
    /// namespace has by default depends on the machine. Datagrams have none.
    pub congestion: Option<String>,
    /// What the client's application sends.
    pub traffic: Traffic,
    /// The delay of a bulk transfer is taken at every so many bytes.
    pub segment: Bytes,
    /// What is measured starts after it.
    pub warmup: Time,
    /// Everything ends then at the latest.
    pub duration: Time,
    /// A row of the timeline each; `None` records none.
    pub step: Option<Time>,
    /// Nagle's algorithm. Messages go without (TCP_NODELAY), as in the simulator.
    pub nagle: bool,
    /// A fixed send buffer (`sk_sndbuf`); `None` leaves it to the kernel, which lets it grow up to
    /// the namespace's net.ipv4.tcp_wmem.
    pub send_buffer: Option<Bytes>,
    /// A fixed receive buffer (`sk_rcvbuf`), overhead included; `None` leaves it to the kernel,
    /// which lets it grow up to the namespace's net.ipv4.tcp_rmem. A fixed one is its full size
    /// from the start, which no connection of an ordinary program has.
    pub receive_buffer: Option<Bytes>,
    /// TCP_NOTSENT_LOWAT: the application is woken when less than that waits to be sent for the
    /// first time; `None` is the kernel's, without a limit.
    pub unsent: Option<u32>,
    /// A SOCKS5 proxy (RFC 1928) that the client goes through; its time counts.
    pub proxy: Option<SocketAddr>,
    /// What [`Carrier::Udp`] asks of the links.
    pub way: Option<Way>,
    /// Where the connection may go. It is opened on the first; those after it name the subflows
    /// that the path manager adds.
    pub paths: Vec<Path>,
}

/// What carries the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// One TCP connection; a tunnel or a proxy may stand in its way.
    Tcp,
    /// One MPTCP connection. One that falls back to TCP is an error.
    Mptcp,
    /// Datagrams (RFC 768), which nothing controls and nobody acknowledges.
    Udp,
}

/// What a sender of datagrams knows of the links before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Way {
    /// The first, which a bulk sender keeps busy, and has for itself.
    pub first: LinkConfig,
    /// What stands before each payload, from the IP header on, in bytes.
    pub headers: u32,
    /// A finite transfer is over when nothing has come for so long, and all has left.
    pub patience: Time,
}

/// The two ends of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// The name that results use.
    pub name: String,
    /// The client's address, which it binds to.
    pub client: IpAddr,
    /// The server's address.
    pub server: IpAddr,
    /// The client's device (SO_BINDTODEVICE). For [`Carrier::Tcp`] alone: with MPTCP it would hold
    /// all subflows.
    pub device: Option<String>,
}

impl Plan {
    /// What its server asks for, if it does.
    pub(crate) fn conversation(&self) -> Option<Conversation> {
        let Traffic::Asked(asked) = &self.traffic else {
            return None;
        };
        let random = stream(self.seed, &format!("{}/traffic", self.name));
        let times = [Time::ZERO, self.warmup, self.duration];
        Some(Conversation::new(asked, times, random, true))
    }

    /// When its messages are due; `None` for bulk, and where the server asks.
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

    /// Bytes of a message; of a bulk transfer, of a full segment or datagram.
    pub(crate) fn unit(&self) -> u64 {
        match self.traffic {
            Traffic::Bulk { .. } | Traffic::Video(_) | Traffic::Asked(_) => self.segment.as_u64(),
            Traffic::Messages { message, .. } => message.as_u64(),
        }
    }

    /// All that it will send, where that is known.
    pub(crate) fn size(&self) -> Option<u64> {
        match self.traffic {
            Traffic::Bulk { size } => size.map(Bytes::as_u64),
            Traffic::Messages { .. } | Traffic::Video(_) | Traffic::Asked(_) => None,
        }
    }
}
