//! What a sender tells, and how qlog says it.
//!
//! Names are those of the drafts until 2024 (`recovery:metrics_updated`, where
//! draft-ietf-quic-qlog-quic-events has had `quic:recovery_metrics_updated`
//! since), because that is what qvis draws and what implementations still write;
//! the data beneath them are the same in all drafts, but for what is noted here.

use ropewalk_quantities::{Bytes, Time};
use serde::Serialize;

/// Something that happened at a subflow's sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QlogEvent {
    /// Its window or its idea of the path changed.
    Metrics(Metrics),
    /// It took a segment for lost.
    PacketLost(PacketLost),
    /// What it had taken for lost had arrived.
    SpuriousLoss(SpuriousLoss),
}

/// All that a sender knows of its path (`recovery:metrics_updated`).
///
/// The file has of each event what changed since the path's last, and nothing
/// if nothing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// The congestion window.
    pub congestion_window: Bytes,
    /// Sent, and neither acknowledged nor taken for lost.
    pub bytes_in_flight: Bytes,
    /// Where slow start ends; none while there is no limit. A limit that is
    /// lifted again is written as 2^53 - 1, the largest integer of I-JSON.
    pub ssthresh: Option<Bytes>,
    /// The smoothed round-trip time; none before the first sample.
    pub smoothed_rtt: Option<Time>,
    /// The last sample of the round-trip time.
    pub latest_rtt: Option<Time>,
    /// The least sample of the round-trip time.
    pub min_rtt: Option<Time>,
}

/// A segment that is taken for lost (`recovery:packet_lost`).
///
/// TCP numbers bytes and not packets: the packet number is the offset of its
/// first byte in the subflow's stream, and the payload's length stands beside
/// it. The packet type, which the drafts require, is `unknown`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLost {
    /// Its first byte in the subflow's stream.
    pub offset: u64,
    /// Its payload.
    pub length: Bytes,
    /// What made the sender think so.
    pub cause: LossCause,
}

/// What makes a sender take a segment for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// Later segments arrived: duplicate acknowledgements, or selective ones
    /// (`reordering_threshold`).
    FastRetransmit,
    /// The retransmission timer fired (`pto_expired`, the drafts' nearest).
    Timeout,
}

/// A segment that was sent again though the receiver had it
/// (`recovery:spurious_loss`).
///
/// No draft has such an event; the name and `packet_number` are quic-go's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpuriousLoss {
    /// Its first byte in the subflow's stream.
    pub offset: u64,
    /// Its payload.
    pub length: Bytes,
}

/// The largest integer that every reader of JSON keeps (RFC 7493).
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
    /// What `now` says that `before` did not; none if that is nothing.
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
