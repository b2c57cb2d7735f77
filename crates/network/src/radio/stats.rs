//! Counters of a channel.

use ropewalk_quantities::Time;

/// Counters of a radio; its times sum to the duration of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioStats {
    /// Data frames transmitted, retransmissions included.
    pub frames: u64,
    /// Data frames retransmitted.
    pub retries: u64,
    /// RTS frames transmitted.
    pub rts: u64,
    /// Attempts, of an RTS or of data, without response.
    pub timeouts: u64,
    /// Data and RTS frames that their receiver lost in collisions.
    pub collisions: u64,
    /// Packets received and acknowledged.
    pub delivered_packets: u64,
    /// Packets dropped after the last retry.
    pub drops_tries: u64,
    /// Packets dropped at a full queue.
    pub drops_queue: u64,
    /// Packets dropped at the end of their lifetime.
    pub drops_lifetime: u64,
    /// Use of time.
    pub airtime: Airtime,
    /// Integral over time of the packets in the queue, the one being transmitted included, in packet
    /// nanoseconds; divided by the duration of the run it is the mean.
    pub queue_packet_ns: u128,
    /// Maximum packets in the queue.
    pub queue_max: u32,
}

/// Use of the time of a radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Transmitting data for the first time.
    pub data: Time,
    /// Retransmitting data.
    pub retries: Time,
    /// Transmitting ACKs.
    pub ack: Time,
    /// Transmitting RTS and CTS.
    pub control: Time,
    /// Not transmitting, although the queue has packets: back-off, medium busy, waiting for responses.
    pub defer: Time,
    /// Idle.
    pub idle: Time,
}

impl Airtime {
    /// Returns the sum of all, the duration of the run.
    pub fn total(&self) -> Time {
        self.sending() + self.defer + self.idle
    }

    /// Returns the time of transmission.
    pub fn sending(&self) -> Time {
        self.data + self.retries + self.ack + self.control
    }
}

/// Counters of a hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopStats {
    /// Packets accepted by the queue.
    pub packets: u64,
    /// Data frames transmitted, retransmissions included.
    pub attempts: u64,
    /// Data frames that the receiver did not decode: noise, collisions, configured losses.
    pub frame_errors: u64,
    /// Frame errors that were collisions.
    pub collisions: u64,
    /// Packets that left the hop.
    pub delivered_packets: u64,
    /// Bytes that left the hop.
    pub delivered_bytes: u64,
    /// Packets dropped after the last retry that had not left the hop.
    pub drops_tries: u64,
    /// Packets dropped at a full queue.
    pub drops_queue: u64,
    /// Packets dropped at the end of their lifetime.
    pub drops_lifetime: u64,
}

impl HopStats {
    /// Returns the frame error ratio of data frames; `None` before the first.
    pub fn frame_error_ratio(&self) -> Option<f64> {
        (self.attempts > 0).then(|| self.frame_errors as f64 / self.attempts as f64)
    }
}

/// Counters of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelStats {
    /// Duration of the run.
    pub time: Time,
    /// Time with at least one frame on the air.
    pub busy: Time,
    /// Data and RTS frames transmitted.
    pub attempts: u64,
    /// Collisions among the attempts.
    pub collisions: u64,
}

impl ChannelStats {
    /// Returns the fraction of time with a frame on the air.
    pub fn busy_ratio(&self) -> f64 {
        self.busy.as_secs_f64() / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Returns the fraction of data and RTS frames lost in collisions; `None` before the first.
    pub fn collision_ratio(&self) -> Option<f64> {
        (self.attempts > 0).then(|| self.collisions as f64 / self.attempts as f64)
    }
}
