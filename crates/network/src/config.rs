//! Configuration of a link, as resolved from a scenario file's `[[link]]`.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate, Time};

use crate::trace::{DelayTrace, FULL_PACKET, Trace};

/// A link with its two directions.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// Name in paths, results and random streams.
    pub name: String,
    /// Names of the two nodes, if the scenario gives them; data flow from the first to the second.
    pub ends: Option<[String; 2]>,
    /// Direction of the data, from client (sender) to server (receiver).
    pub forward: DirectionConfig,
    /// Direction of the ACKs.
    pub reverse: DirectionConfig,
    /// Price per Mbit/s; `None` if no link has one.
    pub cost: Option<f64>,
    /// Outages of both directions, sorted and disjoint.
    pub down: Vec<Outage>,
}

impl LinkConfig {
    /// Returns the base round-trip time: the sum of both delays.
    pub fn round_trip(&self) -> Time {
        self.forward.delay + self.reverse.delay
    }
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionConfig {
    /// Capacity.
    pub capacity: Capacity,
    /// One-way propagation delay.
    pub delay: Time,
    /// Jitter of the delay.
    pub jitter: Option<Jitter>,
    /// Slots in which packets are released together.
    pub slot: Option<Slot>,
    /// Random loss.
    pub loss: Loss,
    /// Limit of the queue.
    pub queue: QueueLimit,
}

/// Capacity of a direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// No transmission time and no queue.
    Unlimited,
    /// Constant rate of IP bits.
    Rate(Rate),
    /// Recorded delivery opportunities.
    Trace(Arc<Trace>),
}

impl Capacity {
    /// Returns the rate, or the mean rate of a trace; `None` if unlimited.
    pub fn mean_rate(&self) -> Option<Rate> {
        match self {
            Capacity::Unlimited => None,
            Capacity::Rate(rate) => Some(*rate),
            Capacity::Trace(trace) => Some(trace.mean_rate()),
        }
    }
}

/// Variation of the delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// Uniform within plus or minus `amount`, as in netem.
    Uniform {
        /// Maximum deviation.
        amount: Time,
        /// Whether a packet may overtake another; otherwise it leaves after the one before it.
        reorder: bool,
    },
    /// Recorded delays, in addition to the constant one. Packets keep their order.
    Recorded(Arc<DelayTrace>),
}

impl Jitter {
    /// Returns the maximum deviation from the constant delay.
    pub fn most(&self) -> Time {
        match self {
            Jitter::Uniform { amount, .. } => *amount,
            Jitter::Recorded(trace) => trace.most(),
        }
    }

    /// Returns how much shorter than the constant delay a delay may be.
    pub fn below(&self) -> Time {
        match self {
            Jitter::Uniform { amount, .. } => *amount,
            Jitter::Recorded(_) => Time::ZERO,
        }
    }

    /// Returns whether a packet may overtake another.
    pub fn reorders(&self) -> bool {
        matches!(self, Jitter::Uniform { reorder: true, .. })
    }
}

/// Slots as in netem: packets are held until the next slot and released together, as over Wi-Fi, LTE and
/// DOCSIS. The time to the slot is uniform between the bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Minimum time from the first held packet to the slot.
    pub least: Time,
    /// Maximum time.
    pub most: Time,
}

/// Random loss of a direction; a lost packet uses its transmission time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// No loss.
    None,
    /// Independent loss, with this probability per packet.
    Bernoulli(f64),
    /// Two-state model as netem's `loss gemodel`; probabilities per packet.
    GilbertElliott {
        /// Transition from the good state to the bad.
        p: f64,
        /// Transition from the bad state to the good.
        r: f64,
        /// Probability that a packet is *delivered* in the bad state (1-h in netem).
        h: f64,
        /// Probability that a packet is *delivered* in the good state (1-k in netem).
        k: f64,
    },
}

impl Loss {
    /// Returns the long-run fraction of lost packets.
    pub fn mean(self) -> f64 {
        match self {
            Loss::None => 0.0,
            Loss::Bernoulli(p) => p,
            Loss::GilbertElliott { p, r, h, k } => {
                let bad = if p + r > 0.0 { p / (p + r) } else { 0.0 };
                bad * (1.0 - h) + (1.0 - bad) * (1.0 - k)
            }
        }
    }
}

/// Limit of a queue; the packet being transmitted does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLimit {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(Bytes),
    /// Multiples of the rate times the base round-trip time of the link.
    Bdp(f64),
}

impl QueueLimit {
    /// Minimum of a limit in bandwidth-delay products: two full packets, since a shorter queue could block
    /// the link.
    const MIN_BDP_BYTES: u64 = 2 * FULL_PACKET;

    /// Returns the limit in bytes, given the base round-trip time of the link; a packet counts as 1500
    /// bytes.
    pub fn bytes(self, capacity: &Capacity, round_trip: Time) -> Bytes {
        match self {
            QueueLimit::Packets(packets) => Bytes::new(packets.saturating_mul(FULL_PACKET)),
            QueueLimit::Bytes(bytes) => bytes,
            QueueLimit::Bdp(times) => {
                let rate = capacity.mean_rate().map_or(0, Rate::as_bps);
                let bytes = times * rate as f64 / 8.0 * round_trip.as_secs_f64();
                Bytes::new((bytes.round() as u64).max(QueueLimit::MIN_BDP_BYTES))
            }
        }
    }
}

/// Outage from `start` up to and excluding `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Start.
    pub start: Time,
    /// End.
    pub end: Time,
}
