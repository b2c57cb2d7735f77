//! Snapshots of carriers and streams, for status output and plots.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_wire::gateway::DATA_HEADER_LEN;

use super::Association;
use crate::{CarrierId, Payload, StreamId};

/// A snapshot of a carrier.
#[derive(Clone, Copy, Debug)]
pub struct CarrierStatistics {
    /// The driver's number of its link.
    pub link: u32,
    /// It has been silent for too long.
    pub suspected: bool,
    /// When it was last heard; when it came up, if it never was.
    pub heard_at: Time,
    /// Smoothed round trip, queues and socket included; `None` before it was measured.
    pub srtt: Option<Time>,
    /// Least round trip of the last ten seconds.
    pub min_rtt: Option<Time>,
    /// Delivery rate, frame headers included; `None` before it was measured.
    pub rate: Option<Rate>,
    /// Sent and not acknowledged, headers included.
    pub in_flight: Bytes,
    /// Sent so far, headers included.
    pub sent: Bytes,
    /// Acknowledged so far, headers included.
    pub acknowledged: Bytes,
    /// Received so far, headers included.
    pub received: Bytes,
    /// Payload that was in flight on it and was sent again on others.
    pub resent: Bytes,
    /// What is left of its quota, if it has one.
    pub quota_left: Option<Bytes>,
    /// Rate limit of its terms, each way.
    pub throttle: Option<Rate>,
}

/// A snapshot of a stream.
#[derive(Clone, Copy, Debug)]
pub struct StreamStatistics {
    /// Written at this end so far.
    pub written: Bytes,
    /// Of that, what the peer has in order.
    pub acknowledged: Bytes,
    /// Of that, what waits to be sent, for the first time or again.
    pub waiting: Bytes,
    /// Sent again so far.
    pub resent: Bytes,
    /// Data wait that the peer's window does not allow.
    pub window_blocked: bool,
    /// Read at this end so far.
    pub read: Bytes,
    /// Received and not read.
    pub held: Bytes,
    /// Of that, what waits for bytes before it.
    pub reassembling: Bytes,
    /// Receive window: the most that may be held.
    pub window: Bytes,
}

impl<P: Payload> Association<P> {
    /// Of a carrier that is up.
    #[must_use]
    pub fn carrier_statistics(&self, id: CarrierId) -> Option<CarrierStatistics> {
        let carrier = &self.carriers[self.position(id)?];
        let rate = carrier.rate.estimate();
        Some(CarrierStatistics {
            link: carrier.config.link,
            suspected: carrier.listening.is_suspected(),
            heard_at: carrier.listening.heard_at(),
            srtt: carrier.round_trip.smoothed(),
            min_rtt: carrier.round_trip.min(),
            rate: rate.map(|rate| Rate::from_mbps(rate * 8e-6)),
            in_flight: Bytes::new(carrier.in_flight.bytes()),
            sent: Bytes::new(carrier.usage.sent()),
            acknowledged: Bytes::new(carrier.rate.delivered()),
            received: Bytes::new(carrier.usage.received()),
            resent: Bytes::new(carrier.usage.resent()),
            quota_left: carrier.usage.quota_left().map(Bytes::new),
            throttle: carrier.config.terms.rate,
        })
    }

    /// Length of a full data frame of a carrier that is up, header included.
    #[must_use]
    pub fn frame_len(&self, id: CarrierId) -> Option<Bytes> {
        let carrier = &self.carriers[self.position(id)?];
        Some(Bytes::new((DATA_HEADER_LEN + carrier.payload_len()) as u64))
    }

    /// Of a stream that is open in at least one direction.
    #[must_use]
    pub fn stream_statistics(&self, stream: StreamId) -> Option<StreamStatistics> {
        let state = self.streams.get(&stream.0)?;
        let (held, reassembling) = state.receive.held();
        Some(StreamStatistics {
            written: Bytes::new(state.send.written()),
            acknowledged: Bytes::new(state.send.base()),
            waiting: Bytes::new(state.send.pending()),
            resent: Bytes::new(state.resent_bytes),
            window_blocked: state.send.is_window_blocked(),
            read: Bytes::new(state.receive.consumed()),
            held: Bytes::new(held),
            reassembling: Bytes::new(reassembling),
            window: Bytes::new(state.window.size()),
        })
    }

    /// Bytes of a stream that wait to be sent, as in [`stream_statistics`](Association::stream_statistics),
    /// for callers that ask before each write.
    #[must_use]
    pub fn waiting_of(&self, stream: StreamId) -> Option<Bytes> {
        let state = self.streams.get(&stream.0)?;
        Some(Bytes::new(state.send.pending()))
    }

    /// Payload that was sent again so far, on all carriers.
    #[must_use]
    pub fn resent(&self) -> Bytes {
        Bytes::new(self.resent_bytes)
    }
}
