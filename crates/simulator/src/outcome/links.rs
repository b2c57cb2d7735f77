//! Results of links, channels and radios.

/// Link over the measured time, forward direction.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkSummary {
    /// Name of the link.
    pub name: String,
    /// Packets sent by the link, without drops by the queue.
    pub sent_packets: u64,
    /// Packets lost in transit, by loss or outage.
    pub lost_packets: u64,
    /// Packets dropped at a full queue.
    pub dropped_packets: u64,
    /// Bytes of IP packets delivered by the link.
    pub delivered_bytes: u64,
    /// Bits sent, as a fraction of its capacity; absent if it is unlimited or wireless.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<f64>,
    /// Data frames sent, retransmissions included; of a wireless link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u64>,
    /// Fraction of data frames that the receiver did not decode: noise, collisions, configured losses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_error_ratio: Option<f64>,
    /// Packets dropped after the last retry; they also count as lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops_tries: Option<u64>,
    /// Share of each flow, if there are several flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flows: Vec<LinkShare>,
}

/// 802.11 channel over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ChannelSummary {
    /// Name of the channel.
    pub name: String,
    /// Fraction of time with a frame on the air.
    pub busy_ratio: f64,
    /// Fraction of data and RTS frames lost at their receivers in collisions; 0 without frames.
    pub collision_ratio: f64,
    /// Mean airtime shares of its radios.
    pub airtime: AirtimeShares,
}

/// Fractions of time, which sum to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct AirtimeShares {
    /// Transmitting data for the first time.
    pub data: f64,
    /// Retransmitting data.
    pub retries: f64,
    /// Transmitting ACKs.
    pub ack: f64,
    /// Transmitting RTS and CTS.
    pub rts: f64,
    /// Not transmitting, although the queue has packets: back-off, medium busy, waiting for responses.
    pub defer: f64,
    /// Idle.
    pub idle: f64,
}

/// Node with radios, over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct NodeSummary {
    /// Name of the node.
    pub name: String,
    /// x, y and z, m.
    pub at: [f64; 3],
    /// Mean packets in its radios' queues, those being transmitted included.
    pub queue_mean: f64,
    /// Maximum packets in the queue of one of its radios, warm-up included.
    pub queue_max: u32,
}

/// Radio over the measured time.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RadioSummary {
    /// Its node.
    pub node: String,
    /// Its channel.
    pub channel: String,
    /// Data frames sent, retransmissions included.
    pub frames: u64,
    /// Data frames retransmitted.
    pub retries: u64,
    /// Packets dropped after the last retry.
    pub drops_tries: u64,
    /// Packets dropped at a full queue.
    pub drops_queue: u64,
    /// Packets dropped at the end of their lifetime.
    pub drops_lifetime: u64,
    /// Data and RTS frames that their receiver lost in collisions.
    pub collisions: u64,
    /// Fraction of time in transmission.
    pub airtime_ratio: f64,
    /// Airtime shares.
    pub airtime: AirtimeShares,
}

/// Share of a flow in a link.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LinkShare {
    /// Name of the flow.
    pub name: String,
    /// Bytes of its IP packets that passed the link and reached the end of their path, over all its
    /// connections.
    pub delivered_bytes: u64,
    /// Fraction of these bytes of all flows; 0 without any.
    pub share: f64,
}
