//! What a sender is set to, gives and tells.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_wire::gateway::tunnel::{LinkTerms, Place};

use super::path_mtu::PathMtuConfig;
use super::scheduler::Scheduler;
use super::train;

/// What a sender is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderConfig {
    /// Which link takes the next packet.
    pub scheduler: Scheduler,
    /// A link whose delay one way is above the least by more than this carries nothing while
    /// there are others.
    pub skew: Time,
    /// Bound of the queue.
    pub most_queue: Bytes,
    /// Between which lengths the path MTU of a link is.
    pub path_mtu: PathMtuConfig,
    /// While no packets go through the tunnel, a link that says nothing is asked for a sign of life
    /// this often. NATs forget a UDP flow after 30 seconds and more.
    pub keepalive: Time,
}

impl Default for SenderConfig {
    fn default() -> SenderConfig {
        SenderConfig {
            scheduler: Scheduler::EarliestArrival,
            skew: Time::from_millis(300),
            most_queue: Bytes::from_mib(16),
            path_mtu: PathMtuConfig::default(),
            keepalive: Time::from_secs(25),
        }
    }
}

/// A packet on the way to a link.
#[derive(Debug, PartialEq, Eq)]
pub struct Transmit<P> {
    /// Which link.
    pub link: usize,
    /// Its place in its lane.
    pub place: Place,
    /// Itself.
    pub packet: P,
    /// Its length.
    pub bytes: u32,
}

/// A ping that a link is to carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Which link.
    pub link: usize,
    /// What the answer repeats; zero of a mere sign of life.
    pub token: u32,
    /// A probe of the path MTU, or one of a packet train, is padded to this, IP header included.
    pub bytes: Option<u32>,
}

/// What a sender has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// Packets that were taken.
    pub packets: u64,
    /// Packets that found the queue full.
    pub dropped: u64,
    /// Packets that were lost and went again.
    pub repaired: u64,
}

/// A link as a status shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkStatus {
    /// Whether the link is there.
    pub up: bool,
    /// On what terms it is used.
    pub terms: LinkTerms,
    /// Whether it is taken for dark.
    pub suspected: bool,
    /// The rate at which it delivers at best; zero before anything is known.
    pub rate: Rate,
    /// The least round trip of late, and the smoothed one.
    pub least_round_trip: Time,
    /// `None` before anything is known.
    pub smoothed_round_trip: Option<Time>,
    /// Bytes on their way.
    pub in_flight: u64,
    /// Datagrams and bytes that were sent, and datagrams that were lost.
    pub datagrams: u64,
    /// IP headers included.
    pub bytes: u64,
    /// As far as feedback tells.
    pub lost: u64,
    /// How many times it was taken for dark.
    pub suspicions: u64,
    /// Longest packet that it is given, IP header included; zero if it carries too short ones to
    /// be of use.
    pub path_mtu: u32,
}

impl Ping {
    /// Asks whether a link is alive.
    #[must_use]
    pub fn sign_of_life(link: usize) -> Ping {
        Ping {
            link,
            token: 0,
            bytes: None,
        }
    }

    /// One of a packet train.
    pub(super) fn of_train(link: usize) -> Ping {
        Ping {
            link,
            token: 0,
            bytes: Some(train::BYTES),
        }
    }
}
