//! Configuration, output and status of a sender.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_wire::gateway::tunnel::{LinkTerms, Sequencing};

use super::path_mtu::PathMtuConfig;
use super::scheduler::Scheduler;
use super::train;

/// Configuration of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// The driver sends packets with [`transmit_at_once`](super::Sender::transmit_at_once), past scheduler and
    /// queue. Only pings are answered, and no packet train measures a link.
    pub naive: bool,
    /// A link whose one-way delay exceeds the least by more than this carries nothing while there are others.
    pub skew: Time,
    /// Rate up to which urgent packets are also sent on a second link.
    pub copies: Rate,
    /// Upper limit of the queue.
    pub most_queue: Bytes,
    /// The range of the links' path MTU.
    pub path_mtu: PathMtuConfig,
    /// Interval of pings on a silent link while no packets pass through the tunnel. NATs forget a UDP flow
    /// after 30 seconds or more.
    pub keepalive: Time,
}

impl Default for SenderConfig {
    fn default() -> SenderConfig {
        SenderConfig {
            scheduler: Scheduler::EarliestArrival,
            naive: false,
            skew: Time::from_millis(300),
            copies: Rate::from_bps(128_000),
            most_queue: Bytes::from_mib(16),
            path_mtu: PathMtuConfig::default(),
            keepalive: Time::from_secs(25),
        }
    }
}

/// A packet to send on a link.
#[derive(Debug, PartialEq, Eq)]
pub struct Transmit<P> {
    /// Link number.
    pub link: usize,
    /// Its lane, sequence and delivery.
    pub sequencing: Sequencing,
    /// The packet.
    pub packet: P,
    /// Length in bytes.
    pub bytes: u32,
}

/// A ping to send on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Link number.
    pub link: usize,
    /// Repeated by the answer; zero for a keepalive.
    pub token: u32,
    /// Padded length of a probe of the path MTU, or of one of a packet train, IP header included.
    pub bytes: Option<u32>,
    /// Whether it may be sent in IP fragments.
    pub in_fragments: bool,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Packets taken.
    pub packets: u64,
    /// Packets dropped at a full queue.
    pub dropped: u64,
    /// Packets that were lost and retransmitted.
    pub repaired: u64,
}

/// State of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkStatus {
    /// Whether the link is up.
    pub up: bool,
    /// Its terms.
    pub terms: LinkTerms,
    /// Whether it is suspected of being down.
    pub suspected: bool,
    /// Highest delivery rate; zero before the first measurement.
    pub rate: Rate,
    /// Lowest recent round trip.
    pub least_round_trip: Time,
    /// Smoothed round trip; `None` before the first sample.
    pub smoothed_round_trip: Option<Time>,
    /// Bytes in flight.
    pub in_flight: u64,
    /// Datagrams sent.
    pub datagrams: u64,
    /// Bytes sent, IP headers included.
    pub bytes: u64,
    /// Datagrams lost, as far as reported.
    pub lost: u64,
    /// Number of suspicions.
    pub suspicions: u64,
    /// Longest datagram to send in one piece, IP header included; zero if its path MTU is too small.
    pub path_mtu: u32,
}

impl Ping {
    /// Creates a keepalive.
    #[must_use]
    pub fn keepalive(link: usize) -> Ping {
        Ping {
            link,
            token: 0,
            bytes: None,
            in_fragments: false,
        }
    }

    pub(super) fn of_train(link: usize) -> Ping {
        Ping {
            link,
            token: 0,
            bytes: Some(train::BYTES),
            in_fragments: false,
        }
    }
}
