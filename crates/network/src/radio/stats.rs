//! What happened on a channel, counted.

use ropewalk_quantities::Time;

/// What a radio has done. Times sum up to the time of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RadioStats {
    /// Data frames sent, those sent again included.
    pub frames: u64,
    /// Of them, sent again.
    pub retries: u64,
    /// RTS frames sent.
    pub rts: u64,
    /// Tries, of an RTS or of data, that brought no answer.
    pub timeouts: u64,
    /// Of its data and RTS frames, those that their receiver lost to other frames on the air.
    pub collisions: u64,
    /// Packets that their receiver has, and acknowledged at last.
    pub delivered_packets: u64,
    /// Packets dropped after the last try.
    pub drops_tries: u64,
    /// Packets that found the queue full.
    pub drops_queue: u64,
    /// Packets that waited too long.
    pub drops_lifetime: u64,
    /// Where its time went.
    pub airtime: Airtime,
    /// Packets in the queue, that being sent included, summed up over time, in packet nanoseconds:
    /// over the time of the run, the mean.
    pub queue_packet_ns: u128,
    /// The most that there were.
    pub queue_max: u32,
}

/// Where a radio's time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Sending data for the first time.
    pub data: Time,
    /// Sending data again.
    pub retries: Time,
    /// Sending ACKs.
    pub ack: Time,
    /// Sending RTS and CTS.
    pub control: Time,
    /// With something to send, and not sending: back-off, waiting for others, for answers.
    pub defer: Time,
    /// With nothing to send.
    pub idle: Time,
}

impl Airtime {
    /// All of it: the time of the run.
    pub fn total(&self) -> Time {
        self.sending() + self.defer + self.idle
    }

    /// On the air.
    pub fn sending(&self) -> Time {
        self.data + self.retries + self.ack + self.control
    }
}

/// What a hop has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HopStats {
    /// Packets taken into the queue.
    pub packets: u64,
    /// Data frames sent, those sent again included.
    pub attempts: u64,
    /// Data frames that the receiver did not get: noise, collisions, losses set by hand.
    pub frame_errors: u64,
    /// Of them, lost to other frames on the air.
    pub collisions: u64,
    /// Packets that came out.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets dropped after the last try that had not come out.
    pub drops_tries: u64,
    /// Packets that found the queue full.
    pub drops_queue: u64,
    /// Packets that waited too long.
    pub drops_lifetime: u64,
}

impl HopStats {
    /// The share of data frames that the receiver did not get; `None` before the first.
    pub fn frame_error_ratio(&self) -> Option<f64> {
        (self.attempts > 0).then(|| self.frame_errors as f64 / self.attempts as f64)
    }
}

/// What happened on the channel as a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelStats {
    /// The time of the run.
    pub time: Time,
    /// Of it, with at least one frame on the air.
    pub busy: Time,
    /// Data and RTS frames sent.
    pub attempts: u64,
    /// Of them, lost to other frames on the air.
    pub collisions: u64,
}

impl ChannelStats {
    /// The share of time with a frame on the air.
    pub fn busy_ratio(&self) -> f64 {
        self.busy.as_secs_f64() / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    /// The share of data and RTS frames that were lost to others; `None` before the first.
    pub fn collision_ratio(&self) -> Option<f64> {
        (self.attempts > 0).then(|| self.collisions as f64 / self.attempts as f64)
    }
}
