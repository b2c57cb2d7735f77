//! Snapshots of carriers and streams, for status output and plots.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_wire::gateway::DATA_HEADER_LEN;

use super::Association;
use crate::{CarrierId, Payload, StreamId};

/// A snapshot of a carrier.
#[derive(Clone, Copy, Debug)]
pub struct CarrierStatistics {
    /// Link number chosen by the driver.
    pub link: u32,
    /// Whether it has been silent for too long.
    pub suspected: bool,
    /// When its last frame arrived; when it came up, if none has.
    pub heard_at: Time,
    /// Smoothed round trip, queues and socket included; `None` before the first measurement.
    pub srtt: Option<Time>,
    /// Least round trip of the last ten seconds.
    pub min_rtt: Option<Time>,
    /// Delivery rate, frame headers included; `None` before the first measurement.
    pub rate: Option<Rate>,
    /// Bytes sent and not acknowledged, headers included.
    pub in_flight: Bytes,
    /// Bytes sent so far, headers included.
    pub sent: Bytes,
    /// Bytes acknowledged so far, headers included.
    pub acknowledged: Bytes,
    /// Bytes received so far, headers included.
    pub received: Bytes,
    /// Payload that was in flight on it and was retransmitted on others.
    pub resent: Bytes,
    /// Unused part of its quota, if it has one.
    pub quota_left: Option<Bytes>,
    /// Rate limit of its terms, for each direction.
    pub throttle: Option<Rate>,
}

/// A snapshot of a stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamStatistics {
    /// Bytes written at this end so far.
    pub written: Bytes,
    /// Bytes that the peer has received in order.
    pub acknowledged: Bytes,
    /// Bytes queued for transmission or retransmission.
    pub waiting: Bytes,
    /// Bytes retransmitted so far.
    pub resent: Bytes,
    /// Whether the peer's window blocks queued data.
    pub window_blocked: bool,
    /// Bytes read at this end so far.
    pub read: Bytes,
    /// Bytes received and not read.
    pub held: Bytes,
    /// Bytes received behind a gap.
    pub reassembling: Bytes,
    /// Receive window: limit of `held`.
    pub window: Bytes,
}

impl<P: Payload> Association<P> {
    /// Returns a snapshot of a carrier that is up.
    #[must_use]
    pub fn carrier_statistics(&self, id: CarrierId) -> Option<CarrierStatistics> {
        let carrier = &self.carriers[self.position(id)?];
        let rate = carrier.rate.estimate();
        Some(CarrierStatistics {
            link: carrier.config.link,
            suspected: carrier.liveness.is_suspected(),
            heard_at: carrier.liveness.heard_at,
            srtt: carrier.round_trip.smoothed(),
            min_rtt: carrier.round_trip.min(),
            rate: rate.map(|rate| Rate::from_mbps(rate * 8e-6)),
            in_flight: Bytes::new(carrier.in_flight.bytes),
            sent: Bytes::new(carrier.usage.sent),
            acknowledged: Bytes::new(carrier.rate.delivered),
            received: Bytes::new(carrier.usage.received),
            resent: Bytes::new(carrier.usage.resent),
            quota_left: carrier.usage.quota_left.map(Bytes::new),
            throttle: carrier.config.terms.rate,
        })
    }

    /// Returns the length of a full data frame of a carrier that is up, header included.
    #[must_use]
    pub fn frame_len(&self, id: CarrierId) -> Option<Bytes> {
        let carrier = &self.carriers[self.position(id)?];
        Some(Bytes::new((DATA_HEADER_LEN + carrier.payload_len()) as u64))
    }

    /// Returns a snapshot of a stream that is open in at least one direction.
    #[must_use]
    pub fn stream_statistics(&self, stream: StreamId) -> Option<StreamStatistics> {
        let state = self.streams.get(&stream)?;
        let (held, reassembling) = state.receive.held();
        Some(StreamStatistics {
            written: Bytes::new(state.send.written),
            acknowledged: Bytes::new(state.send.base()),
            waiting: Bytes::new(state.send.pending()),
            resent: Bytes::new(state.resent_bytes),
            window_blocked: state.send.is_window_blocked(),
            read: Bytes::new(state.receive.read),
            held: Bytes::new(held),
            reassembling: Bytes::new(reassembling),
            window: Bytes::new(state.window.size),
        })
    }

    /// Returns the queued bytes of a stream, as [`stream_statistics`](Association::stream_statistics) does,
    /// but cheaper.
    #[must_use]
    pub fn waiting_of(&self, stream: StreamId) -> Option<Bytes> {
        let state = self.streams.get(&stream)?;
        Some(Bytes::new(state.send.pending()))
    }

    /// Returns the payload bytes retransmitted so far on all carriers.
    #[must_use]
    pub fn resent(&self) -> Bytes {
        Bytes::new(self.resent_bytes)
    }
}
