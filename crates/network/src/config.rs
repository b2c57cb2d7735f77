//! Configuration of a link, as resolved from a scenario file's `[[link]]`.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate, Time};

/// An IP packet that fills an Ethernet frame, and the bytes of a trace's delivery opportunity.
const FULL_PACKET: u64 = 1500;

/// A link with its two directions.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// The name that paths, results and random streams use.
    pub name: String,
    /// The names of the nodes that it connects, where the file gives them; data flow from the first to the
    /// second.
    pub ends: Option<[String; 2]>,
    /// The direction of the data: from client (sender) to server (receiver).
    pub forward: DirectionConfig,
    /// The reverse direction.
    pub reverse: DirectionConfig,
    /// Price per Mbit/s; `None` where no link has one.
    pub cost: Option<f64>,
    /// Outages, in both directions; sorted and disjoint.
    pub down: Vec<Outage>,
}

impl LinkConfig {
    /// The link's own round trip: the sum of both delays.
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
    /// Jitter, if any.
    pub jitter: Option<Jitter>,
    /// Slots in which packets are released together, if any.
    pub slot: Option<Slot>,
    /// Random loss.
    pub loss: Loss,
    /// Limit of the queue.
    pub queue: QueueLimit,
}

/// Capacity of a direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// Packets need no transmission time, and none is queued.
    Unlimited,
    /// A constant rate of IP bits.
    Rate(Rate),
    /// Recorded delivery opportunities.
    Trace(Arc<Trace>),
}

impl Capacity {
    /// The rate, or a trace's mean rate; `None` if unlimited.
    pub fn mean_rate(&self) -> Option<Rate> {
        match self {
            Capacity::Unlimited => None,
            Capacity::Rate(rate) => Some(*rate),
            Capacity::Trace(trace) => Some(trace.mean_rate()),
        }
    }
}

/// A recorded capacity in mahimahi's format: each entry is an opportunity to deliver 1500 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its name in the scenario (the file's path).
    pub name: String,
    /// Times of the opportunities, in milliseconds from the start; never decreasing.
    pub opportunities_ms: Vec<u32>,
}

/// Delay varies around its nominal value, uniformly within plus or minus `amount`, as netem's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The maximum deviation.
    pub amount: Time,
    /// Whether a packet may overtake another; otherwise it waits for the one before it.
    pub reorder: bool,
}

/// Slots as in netem: packets are held until the next slot and released together, as over Wi-Fi, LTE and
/// DOCSIS. The time to the slot is uniform between two bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Least time from the first held packet to the slot.
    pub least: Time,
    /// Most time.
    pub most: Time,
}

/// Random loss in a direction of a link; a lost packet uses its transmission time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// None at all.
    None,
    /// Independent, with this probability for each packet.
    Bernoulli(f64),
    /// A two-state model as netem's `loss gemodel`; probabilities per packet.
    GilbertElliott {
        /// Transition from the good state to the bad.
        p: f64,
        /// Transition from the bad state to the good.
        r: f64,
        /// Probability that a packet is *delivered* in the bad state (netem takes 1-h).
        h: f64,
        /// Probability that a packet is *delivered* in the good state (netem takes 1-k).
        k: f64,
    },
}

impl Loss {
    /// The long-run fraction of lost packets.
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
    /// This many packets.
    Packets(u64),
    /// This many bytes.
    Bytes(Bytes),
    /// This many times the direction's rate times the link's own round trip.
    Bdp(f64),
}

impl QueueLimit {
    /// Least limit in bandwidth-delay products: two full packets; less would let nothing pass.
    const MIN_BDP_BYTES: u64 = 2 * FULL_PACKET;

    /// The limit in bytes for `capacity` and the link's own round trip; packets count as full ones of 1500
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

/// An outage: from `start`, up to and excluding `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Its start.
    pub start: Time,
    /// Its end.
    pub end: Time,
}

/// Why a trace file is invalid.
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
    /// A time is before the one above it.
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
    /// All opportunities are at 0 ms, so that the trace has no period.
    #[error("no chance to send after 0 ms")]
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

    /// The period, after which the trace repeats: the time of the last entry.
    pub fn period(&self) -> Time {
        Time::from_millis(u64::from(*self.opportunities_ms.last().unwrap_or(&1)))
    }

    /// The mean rate over a period.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities_ms.len() as u64 * FULL_PACKET * 8;
        Rate::from_mbps(bits as f64 / self.period().as_secs_f64() / 1e6)
    }
}
