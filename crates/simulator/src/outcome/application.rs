//! Application-level results, by kind of traffic.

use super::delay::DelaySummary;

/// Application-level results, by kind of traffic; none for bulk.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct ApplicationSummary {
    /// Messages with a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessagesSummary>,
    /// Video.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub video: Option<VideoSummary>,
    /// Adaptive streaming.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<ChunksSummary>,
    /// Request-response traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<RequestsSummary>,
    /// Web pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub web: Option<WebSummary>,
}

/// Results of adaptive streaming.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct ChunksSummary {
    /// Chunks that arrived in the measured time.
    pub count: u64,
    /// Mean rate of the requested qualities; 10^6 bit/s.
    pub rate_mbps: f64,
    /// Changes of quality between consecutive chunks.
    pub switches: u64,
    /// Chunks that arrived after the player's deadline or never, in percent.
    pub late_percent: f64,
    /// Bytes of the late chunks.
    pub late_bytes: u64,
    /// Time from the request of a chunk to its arrival; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
    /// Stalls of the player.
    pub stall: Stall,
}

/// Results of request-response traffic.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RequestsSummary {
    /// Responses to requests of the measured time.
    pub count: u64,
    /// Time from request to response; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
    /// Percentage of responses that arrived after their deadline or never, if there is a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_percent: Option<f64>,
    /// Bytes of the late responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late_bytes: Option<u64>,
}

/// Results of page loads.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct WebSummary {
    /// Pages that were begun in the measured time and loaded completely.
    pub pages: u64,
    /// Objects of these pages.
    pub objects: u64,
    /// Time from the request of a page to the arrival of all its objects; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_load_s: Option<DelaySummary>,
    /// Time from the request of an object to its arrival; s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_s: Option<DelaySummary>,
}

/// Timeliness of messages.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct MessagesSummary {
    /// Messages that were written in the measured time, and whose deadline has passed.
    pub count: u64,
    /// Percentage that arrived late or never.
    pub late_percent: f64,
    /// Bytes of the late messages.
    pub late_bytes: u64,
}

/// Timeliness of a video.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct VideoSummary {
    /// Frames that were written in the measured time, and whose deadline has passed.
    pub frames: u64,
    /// Percentage that arrived late or never.
    pub late_percent: f64,
    /// Bytes of the late frames.
    pub late_bytes: u64,
    /// Time from the write of a frame to its delivery, of delivered frames; ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_delay_ms: Option<DelaySummary>,
    /// Stalls of the player, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stall: Option<Stall>,
}

/// Stalls of a player.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Stall {
    /// Number of stalls after the start.
    pub count: u64,
    /// Duration of the stalls in seconds.
    pub total_s: f64,
    /// Fraction of the time since playback began.
    pub share: f64,
}
