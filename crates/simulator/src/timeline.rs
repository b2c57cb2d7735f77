//! State at regular steps, as columns of equal length.

/// State of the measured connection at regular steps, as columns of equal length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// One row per step and subflow.
    pub subflows: SubflowTimeline,
    /// One row per step.
    pub connection: ConnectionTimeline,
    /// For each row of `subflows`, restorations of the window in its step; empty without a reordering
    /// response.
    pub undone: Vec<u64>,
}

/// One row per step and subflow.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct SubflowTimeline {
    /// End of the step.
    pub time_s: Vec<f64>,
    /// Subflow number.
    pub subflow: Vec<u32>,
    /// New data that this subflow delivered in the step, in its own order; 10^6 bit/s.
    pub goodput_mbps: Vec<f64>,
    /// Congestion window, bytes.
    pub cwnd_bytes: Vec<u64>,
    /// Slow-start threshold, bytes; NaN while unlimited.
    pub ssthresh_bytes: Vec<f64>,
    /// Bytes in flight.
    pub in_flight_bytes: Vec<u64>,
    /// Smoothed round-trip time; NaN before the first sample.
    pub srtt_ms: Vec<f64>,
}

/// One row per step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConnectionTimeline {
    /// End of the step.
    pub time_s: Vec<f64>,
    /// Data delivered in order in the step; 10^6 bit/s.
    pub goodput_mbps: Vec<f64>,
    /// Capacity of the links of the connection's paths in the step; 10^6 bit/s; NaN if unlimited.
    pub capacity_mbps: Vec<f64>,
    /// Bytes behind a gap at the end of the step.
    pub reorder_buffer_bytes: Vec<u64>,
    /// Playing time in the player's buffer at the end of the step, s; empty without a player.
    pub player_buffer_s: Vec<f64>,
}

/// One row per step and competitor of the scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompetitorTimeline {
    /// End of the step.
    pub time_s: Vec<f64>,
    /// Number of the competitor in the scenario.
    pub competitor: Vec<u32>,
    /// Data delivered in order in the step, mean over the competitor's flows; 10^6 bit/s.
    pub goodput_mbps: Vec<f64>,
}
