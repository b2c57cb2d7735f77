//! Distributions of delays.

/// Statistics of a distribution of delays, in the unit of the key's name.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct DelaySummary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

/// Bin of a delay histogram.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct DelayBin {
    /// Upper edge, in milliseconds.
    pub up_to_ms: f64,
    /// Packets (or messages) in the bin.
    pub count: u64,
}
