//! Configuration of a link, as resolved from a scenario file's `[[link]]`.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate, Time};

/// Bytes of an IP packet that fills an Ethernet frame.
const FULL_PACKET: u64 = 1500;

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

/// Recorded capacity in mahimahi's format: each entry is an opportunity to deliver 1500 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Name in the scenario (the path of the file).
    pub name: String,
    /// Times of the opportunities in milliseconds from the start, never decreasing.
    pub opportunities_ms: Vec<u32>,
}

/// Uniform variation of the delay within plus or minus `amount`, as in netem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Maximum deviation.
    pub amount: Time,
    /// Whether a packet may overtake another; otherwise it leaves after the one before it.
    pub reorder: bool,
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

/// Error in a trace file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line is not a whole number of milliseconds.
    #[error("line {line}: {text:?} is not a whole number of milliseconds")]
    NotANumber {
        /// Line number, counted from 1.
        line: usize,
        /// The beginning of the line.
        text: String,
    },
    /// Times decrease.
    #[error("line {line}: {ms} ms comes before the {before} ms above it")]
    Decreasing {
        /// Line number, counted from 1.
        line: usize,
        /// The time on this line.
        ms: u32,
        /// The time on the line above.
        before: u32,
    },
    /// The file has no line.
    #[error("the file is empty")]
    Empty,
    /// All opportunities are at 0 ms, so the trace has no period.
    #[error("no delivery opportunity after 0 ms")]
    NoPeriod,
}

impl Trace {
    /// Parses mahimahi's format: one time in milliseconds per line; blank lines are skipped.
    ///
    /// # Errors
    /// A line is not a number, times decrease, or the trace is empty.
    pub fn parse(name: &str, text: &str) -> Result<Trace, TraceError> {
        let mut opportunities_ms = Vec::new();
        let mut before = 0;
        for (index, content) in text.lines().enumerate() {
            let content = content.trim();
            if content.is_empty() {
                continue;
            }
            let line = index + 1;
            let ms: u32 = content.parse().map_err(|_| TraceError::NotANumber {
                line,
                text: content.chars().take(40).collect(),
            })?;
            if ms < before {
                return Err(TraceError::Decreasing { line, ms, before });
            }
            opportunities_ms.push(ms);
            before = ms;
        }
        match opportunities_ms.last() {
            None => return Err(TraceError::Empty),
            Some(0) => return Err(TraceError::NoPeriod),
            Some(_) => {}
        }
        Ok(Trace {
            name: name.to_owned(),
            opportunities_ms,
        })
    }

    /// Returns the period after which the trace repeats: the time of the last entry.
    pub fn period(&self) -> Time {
        Time::from_millis(u64::from(*self.opportunities_ms.last().unwrap_or(&1)))
    }

    /// Returns the mean rate over a period.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities_ms.len() as u64 * FULL_PACKET * 8;
        Rate::from_mbps(bits as f64 / self.period().as_secs_f64() / 1e6)
    }
}
