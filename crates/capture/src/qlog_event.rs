//! Events of a sender and their qlog form.
//!
//! Names follow the drafts until 2024 (`recovery:metrics_updated`, now
//! `quic:recovery_metrics_updated`), which qvis draws and implementations still write. The data are
//! equal in all drafts unless noted.

use ropewalk_quantities::{Bytes, Time};
use serde::Serialize;

/// An event at a subflow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QlogEvent {
    /// The congestion window or RTT estimates changed.
    Metrics(Metrics),
    /// A segment was declared lost.
    PacketLost(PacketLost),
    /// A segment declared lost had arrived.
    SpuriousLoss(SpuriousLoss),
}

/// A sender's state of a path (`recovery:metrics_updated`).
///
/// Only changed fields are written; without changes there is no event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The congestion window.
    pub congestion_window: Bytes,
    /// Bytes neither acknowledged nor declared lost.
    pub bytes_in_flight: Bytes,
    /// Slow start threshold; `None` if unset. A threshold that is unset again is written as 2^53 -
    /// 1, the largest integer of I-JSON.
    pub ssthresh: Option<Bytes>,
    /// Smoothed RTT; `None` before the first sample.
    pub smoothed_rtt: Option<Time>,
    /// Latest RTT sample.
    pub latest_rtt: Option<Time>,
    /// Smallest RTT sample.
    pub min_rtt: Option<Time>,
}

/// A segment declared lost (`recovery:packet_lost`).
///
/// TCP numbers bytes: the packet number is the offset of the segment's first byte in the subflow's
/// stream, with the payload's length. The required packet type is `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLost {
    /// Offset of its first byte in the subflow's stream.
    pub offset: u64,
    /// Payload length.
    pub length: Bytes,
    /// Reason of the declaration.
    pub cause: LossCause,
}

/// Reason for declaring a segment lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// Duplicate ACKs or SACK (`reordering_threshold`).
    FastRetransmit,
    /// The retransmission timer expired (`pto_expired`, the closest value of the drafts).
    Timeout,
}

/// A segment retransmitted although the receiver had it (`recovery:spurious_loss`).
///
/// No draft has this event; the name and `packet_number` are quic-go's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpuriousLoss {
    /// Offset of its first byte in the subflow's stream.
    pub offset: u64,
    /// Payload length.
    pub length: Bytes,
}

/// Largest integer that every JSON reader represents exactly (RFC 7493).
const LARGEST_INTEGER: u64 = (1 << 53) - 1;

#[derive(Serialize)]
pub(crate) struct PathAssignedData<'a> {
    pub(crate) path_id: usize,
    pub(crate) path_name: &'a str,
}

#[derive(Default, PartialEq, Serialize)]
pub(crate) struct MetricsData {
    #[serde(skip_serializing_if = "Option::is_none")]
    congestion_window: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_in_flight: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ssthresh: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    smoothed_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latest_rtt: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_rtt: Option<f64>,
}

impl MetricsData {
    pub(crate) fn changes(before: Option<&Metrics>, now: &Metrics) -> Option<MetricsData> {
        let bytes = |field: fn(&Metrics) -> Bytes| {
            let changed = before.is_none_or(|before| field(before) != field(now));
            changed.then(|| field(now).as_u64())
        };
        let time = |field: fn(&Metrics) -> Option<Time>| {
            let changed = before.is_none_or(|before| field(before) != field(now));
            field(now).filter(|_| changed).map(Time::as_millis_f64)
        };
        let limit_before = before.and_then(|before| before.ssthresh);
        let data = MetricsData {
            congestion_window: bytes(|metrics| metrics.congestion_window),
            bytes_in_flight: bytes(|metrics| metrics.bytes_in_flight),
            ssthresh: (limit_before != now.ssthresh)
                .then(|| now.ssthresh.map_or(LARGEST_INTEGER, Bytes::as_u64)),
            smoothed_rtt: time(|metrics| metrics.smoothed_rtt),
            latest_rtt: time(|metrics| metrics.latest_rtt),
            min_rtt: time(|metrics| metrics.min_rtt),
        };
        (data != MetricsData::default()).then_some(data)
    }
}

#[derive(Serialize)]
pub(crate) struct PacketLostData {
    header: PacketHeader,
    raw: RawInfo,
    trigger: &'static str,
}

#[derive(Serialize)]
struct PacketHeader {
    packet_type: &'static str,
    packet_number: u64,
}

#[derive(Serialize)]
struct RawInfo {
    payload_length: u64,
}

impl From<&PacketLost> for PacketLostData {
    fn from(lost: &PacketLost) -> PacketLostData {
        PacketLostData {
            header: PacketHeader {
                packet_type: "unknown",
                packet_number: lost.offset,
            },
            raw: RawInfo {
                payload_length: lost.length.as_u64(),
            },
            trigger: match lost.cause {
                LossCause::FastRetransmit => "reordering_threshold",
                LossCause::Timeout => "pto_expired",
            },
        }
    }
}

#[derive(Serialize)]
pub(crate) struct SpuriousLossData {
    packet_number: u64,
    raw: RawInfo,
}

impl From<&SpuriousLoss> for SpuriousLossData {
    fn from(spurious: &SpuriousLoss) -> SpuriousLossData {
        SpuriousLossData {
            packet_number: spurious.offset,
            raw: RawInfo {
                payload_length: spurious.length.as_u64(),
            },
        }
    }
}
