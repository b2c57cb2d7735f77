//! Counters of a channel.

use ropewalk_quantities::Time;

/// Counters of a radio. Times sum to the duration of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioStats {
    /// Data frames transmitted, retransmissions included.
    pub frames: u64,
    /// Those of them that were retransmissions.
    pub retries: u64,
    /// RTS frames transmitted.
    pub rts: u64,
    /// Attempts, of an RTS or of data, without response.
    pub timeouts: u64,
    /// Its data and RTS frames that were lost at their receiver in collisions.
    pub collisions: u64,
    /// Packets received and finally acknowledged.
    pub delivered_packets: u64,
    /// Packets dropped after the last retry.
    pub drops_tries: u64,
    /// Packets dropped at a full queue.
    pub drops_queue: u64,
    /// Packets dropped at the end of their lifetime.
    pub drops_lifetime: u64,
    /// Use of its time.
    pub airtime: Airtime,
    /// Integral of the packets in the queue, the one being transmitted included, over time, in packet
    /// nanoseconds: divided by the duration of the run, the mean.
    pub queue_packet_ns: u128,
    /// Most packets in the queue.
    pub queue_max: u32,
}

/// Use of a radio's time.
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
    /// With something to send, but not transmitting: back-off, medium busy, waiting for responses.
    pub defer: Time,
    /// With nothing to send.
    pub idle: Time,
}

impl Airtime {
    /// Sum of all: the duration of the run.
    pub fn total(&self) -> Time {
        self.sending() + self.defer + self.idle
    }

    /// Transmitting.
    pub fn sending(&self) -> Time {
        self.data + self.retries + self.ack + self.control
    }
}

/// Counters of a hop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopStats {
    /// Packets accepted into the queue.
    pub packets: u64,
    /// Data frames transmitted, retransmissions included.
    pub attempts: u64,
    /// Data frames that the receiver did not decode: noise, collisions, configured losses.
    pub frame_errors: u64,
    /// Those of them that were lost in collisions.
    pub collisions: u64,
    /// Packets that left the hop.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped after the last retry that had not left the hop.
    pub drops_tries: u64,
    /// Packets dropped at a full queue.
    pub drops_queue: u64,
    /// Packets dropped at the end of their lifetime.
    pub drops_lifetime: u64,
}

impl HopStats {
    /// Frame error ratio of data frames; `None` before the first.
    pub fn frame_error_ratio(&self) -> Option<f64> {
        (self.attempts > 0).then(|| self.frame_errors as f64 / self.attempts as f64)
    }
}

/// Counters of the whole channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelStats {
    /// Duration of the run.
    pub time: Time,
    /// Time with at least one frame on the air.
    pub busy: Time,
    /// Data and RTS frames transmitted.
    pub attempts: u64,
    /// Those of them that were lost in collisions.
    pub collisions: u64,
}

impl ChannelStats {
    /// Fraction of time with a frame on the air.
    pub fn busy_ratio(&self) -> f64 {
        self.busy.as_secs_f64() / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// Fraction of data and RTS frames lost in collisions; `None` before the first.
    pub fn collision_ratio(&self) -> Option<f64> {
        (self.attempts > 0).then(|| self.collisions as f64 / self.attempts as f64)
    }
}
