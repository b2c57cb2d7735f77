//! What a link is made of: the types that a scenario file's `[[link]]` becomes.

use std::sync::Arc;

use ropewalk_quantities::{Bytes, Rate, Time};

/// An IP packet that fills an Ethernet frame, which is also a trace's chance to send.
const FULL_PACKET: u64 = 1500;

/// A link: both its directions, and what they share.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConfig {
    /// The name that paths, results and random streams use.
    pub name: String,
    /// The nodes that it joins, by name, where the file names them: data goes from the first to the
    /// second.
    pub ends: Option<[String; 2]>,
    /// The way of the data: from the client (sender) to the server (receiver).
    pub forward: DirectionConfig,
    /// The way back.
    pub reverse: DirectionConfig,
    /// Price per Mbit/s; `None` where no link has one.
    pub cost: Option<f64>,
    /// Spans in which the link carries nothing either way and says nothing; sorted, disjoint.
    pub down: Vec<Outage>,
}

impl LinkConfig {
    /// The link's own round trip: delay there plus delay back.
    pub fn round_trip(&self) -> Time {
        self.forward.delay + self.reverse.delay
    }
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionConfig {
    /// How fast it sends.
    pub capacity: Capacity,
    /// One-way propagation delay.
    pub delay: Time,
    /// Variation of the delay, if any.
    pub jitter: Option<Jitter>,
    /// Turns in which packets come out together, if it has such.
    pub slot: Option<Slot>,
    /// Random loss.
    pub loss: Loss,
    /// How much may wait before the packet that is being sent.
    pub queue: QueueLimit,
}

/// How fast a direction of a link sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Capacity {
    /// Sending takes no time and nothing waits.
    Unlimited,
    /// A constant rate of IP bits.
    Rate(Rate),
    /// Recorded chances to send.
    Trace(Arc<Trace>),
}

impl Capacity {
    /// The rate, a trace's in the mean; `None` if unlimited.
    pub fn mean_rate(&self) -> Option<Rate> {
        match self {
            Capacity::Unlimited => None,
            Capacity::Rate(rate) => Some(*rate),
            Capacity::Trace(trace) => Some(trace.mean_rate()),
        }
    }
}

/// Recorded capacity in mahimahi's format: each entry is a chance to send 1500 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// What the scenario calls it (the file's path).
    pub name: String,
    /// When each chance comes, in milliseconds from the start; never decreasing.
    pub opportunities_ms: Vec<u32>,
}

/// Delay varies around its nominal value, uniformly within plus or minus `amount`, as netem's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The largest deviation.
    pub amount: Time,
    /// Whether a packet may overtake another; if not, it waits for the one before it.
    pub reorder: bool,
}

/// How long the link's next turn is waited for, uniformly between two bounds, as netem's `slot`
/// has it: all packets that could have come out by then come out together, as over Wi-Fi, LTE and
/// DOCSIS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// From the first packet that waits to the turn, at the least.
    pub least: Time,
    /// And at the most.
    pub most: Time,
}

/// Random loss on a direction of a link; a lost packet has taken its time on the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// None at all.
    None,
    /// Each packet alone, with this probability.
    Bernoulli(f64),
    /// Two states, as netem's `loss gemodel` has them; probabilities per packet.
    GilbertElliott {
        /// From the good state to the bad.
        p: f64,
        /// From the bad state to the good.
        r: f64,
        /// That a packet is *delivered* in the bad state (netem asks for 1-h).
        h: f64,
        /// That a packet is *delivered* in the good state (netem asks for 1-k).
        k: f64,
    },
}

impl Loss {
    /// The share of packets that is lost in the long run.
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

/// How much may wait at a direction of a link, besides the packet that is being sent.
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
    /// Below this, a limit in bandwidth-delay products lets nothing pass: two full packets.
    const LEAST_BDP_BYTES: u64 = 2 * FULL_PACKET;

    /// The limit in bytes before `capacity` of a link with this round trip of its own; packets
    /// count as full ones of 1500 bytes.
    pub fn bytes(self, capacity: &Capacity, round_trip: Time) -> Bytes {
        match self {
            QueueLimit::Packets(packets) => Bytes::new(packets.saturating_mul(FULL_PACKET)),
            QueueLimit::Bytes(bytes) => bytes,
            QueueLimit::Bdp(times) => {
                let rate = capacity.mean_rate().map_or(0, Rate::as_bps);
                let bytes = times * rate as f64 / 8.0 * round_trip.as_secs_f64();
                Bytes::new((bytes.round() as u64).max(QueueLimit::LEAST_BDP_BYTES))
            }
        }
    }
}

/// A span of silence: from `start`, up to and not including `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// When it begins.
    pub start: Time,
    /// When it is over.
    pub end: Time,
}

/// What is wrong with a trace file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line that is no whole number of milliseconds.
    #[error("line {line}: {text:?} is not a whole number of milliseconds")]
    NotANumber {
        /// Counted from 1.
        line: usize,
        /// What stands there (its beginning).
        text: String,
    },
    /// A time before the one above it.
    #[error("line {line}: {ms} ms comes before the {before} ms above it")]
    Decreasing {
        /// Counted from 1.
        line: usize,
        /// The time there.
        ms: u32,
        /// The time on the line above.
        before: u32,
    },
    /// No chance to send at all, or all of them at 0 ms, so that the trace has no length.
    #[error("no chance to send after 0 ms")]
    Empty,
}

impl Trace {
    /// Reads mahimahi's format: one time in milliseconds a line; blank lines are skipped.
    ///
    /// # Errors
    /// A line that is no number, times that decrease, or an empty trace.
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
        if before == 0 {
            return Err(TraceError::Empty);
        }
        Ok(Trace {
            name: name.to_owned(),
            opportunities_ms,
        })
    }

    /// How long one pass takes; it then starts again. The last entry is the length.
    pub fn period(&self) -> Time {
        Time::from_millis(u64::from(*self.opportunities_ms.last().unwrap_or(&1)))
    }

    /// The mean rate over one pass.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities_ms.len() as u64 * FULL_PACKET * 8;
        Rate::from_mbps(bits as f64 / self.period().as_secs_f64() / 1e6)
    }
}
