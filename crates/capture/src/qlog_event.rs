//! Events of a sender, and their form in qlog.
//!
//! The names are those of drafts until 2024 (`recovery:metrics_updated`; draft-ietf-quic-qlog-quic-events has
//! had `quic:recovery_metrics_updated` since), because qvis draws these and implementations still write them.
//! The data are the same in all drafts, except where noted here.

use ropewalk_quantities::{Bytes, Time};
use serde::Serialize;

/// Something that happened at a subflow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QlogEvent {
    /// Its congestion window or its estimates of the path changed.
    Metrics(Metrics),
    /// It declared a segment lost.
    PacketLost(PacketLost),
    /// A segment that it had declared lost had arrived.
    SpuriousLoss(SpuriousLoss),
}

/// A sender's state of a path (`recovery:metrics_updated`).
///
/// Only the fields that changed since the path's last event are written; if none did, no event is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The congestion window.
    pub congestion_window: Bytes,
    /// Bytes that are neither acknowledged nor declared lost.
    pub bytes_in_flight: Bytes,
    /// The slow start threshold; `None` while there is none. A threshold that is removed again is written as
    /// 2^53 - 1, the largest integer of I-JSON.
    pub ssthresh: Option<Bytes>,
    /// The smoothed round-trip time; `None` before the first sample.
    pub smoothed_rtt: Option<Time>,
    /// The latest sample of the round-trip time.
    pub latest_rtt: Option<Time>,
    /// The smallest sample of the round-trip time.
    pub min_rtt: Option<Time>,
}

/// A segment that is declared lost (`recovery:packet_lost`).
///
/// TCP numbers bytes and not packets: the packet number is the offset of the segment's first byte in the
/// subflow's stream, and the payload's length is given, too. The packet type, which the drafts require, is
/// `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLost {
    /// The offset of its first byte in the subflow's stream.
    pub offset: u64,
    /// The length of its payload.
    pub length: Bytes,
    /// Why it was declared lost.
    pub cause: LossCause,
}

/// Why a segment is declared lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// Later segments were acknowledged: by duplicate ACKs or SACK (`reordering_threshold`).
    FastRetransmit,
    /// The retransmission timer expired (`pto_expired`, the nearest that the drafts have).
    Timeout,
}

/// A segment that was retransmitted although the receiver had it (`recovery:spurious_loss`).
///
/// No draft has such an event; the name and `packet_number` are quic-go's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpuriousLoss {
    /// The offset of its first byte in the subflow's stream.
    pub offset: u64,
    /// The length of its payload.
    pub length: Bytes,
}

/// The largest integer that every reader of JSON represents exactly (RFC 7493).
const LARGEST_INTEGER: u64 = (1 << 53) - 1;

/// The `data` of `connectivity:path_assigned`, which names a path.
#[derive(Serialize)]
pub(crate) struct PathAssignedData<'a> {
    pub(crate) path_id: usize,
    pub(crate) path_name: &'a str,
}

/// The `data` of `recovery:metrics_updated`.
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
    /// The fields in which `now` differs from `before`; `None` if there are none.
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

/// The `data` of `recovery:packet_lost`.
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

/// The `data` of `recovery:spurious_loss`.
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
