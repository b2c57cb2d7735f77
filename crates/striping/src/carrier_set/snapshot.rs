//! Cached properties of each carrier.

use ropewalk_quantities::Time;
use ropewalk_transport::scheduling::earliest_arrival::Arrival;

use crate::carrier::Carrier;
use crate::carrier::inflight_cap::InFlightCap;

#[derive(Clone, Copy, Debug)]
pub(super) struct CarrierSnapshot {
    pub(super) is_outdated: bool,
    /// Lower bound of its deadlines; see [`Carrier::not_due_before`].
    pub(super) not_due_before: Time,
    pub(super) is_suspected: bool,
    pub(super) is_good: bool,
    pub(super) has_quota: bool,
    pub(super) arrival: Arrival,
    pub(super) min_rtt: Option<Time>,
    pub(super) srtt: Option<Time>,
    pub(super) conditions: SendConditions,
}

/// Conditions for an idle carrier to have something to send.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendConditions {
    /// When it has to send an acknowledgement; `Time::MAX` for never.
    pub(crate) acknowledges_at: Time,
    pub(crate) payload: u64,
    pub(crate) in_flight: u64,
    pub(crate) due: Time,
    pub(crate) in_flight_cap: InFlightCap,
    pub(crate) is_throttled: bool,
    /// It has to send a ping, an answer to one, or its terms.
    pub(crate) has_own_frames: bool,
}

impl CarrierSnapshot {
    pub(super) fn of(carrier: &Carrier, keepalive: Time) -> CarrierSnapshot {
        let payload = carrier.payload_len();
        let rate = carrier.rate_or_guess();
        CarrierSnapshot {
            is_outdated: false,
            not_due_before: carrier.not_due_before(keepalive),
            is_suspected: carrier.liveness.is_suspected(),
            is_good: carrier.is_good(),
            has_quota: carrier.usage.has_quota(),
            arrival: Arrival {
                arrives_in: carrier.arrives_in(payload as u64, rate),
                rate,
            },
            min_rtt: carrier.round_trip.min(),
            srtt: carrier.round_trip.smoothed(),
            conditions: SendConditions {
                acknowledges_at: carrier.acknowledgement.due().unwrap_or(Time::MAX),
                payload: payload as u64,
                in_flight: carrier.in_flight.bytes,
                due: carrier
                    .in_flight
                    .oldest()
                    .map_or(Time::MAX, |sent| sent.due),
                in_flight_cap: carrier.in_flight_cap(),
                is_throttled: carrier.usage.allowed_at().is_some(),
                has_own_frames: carrier.has_own_frames(),
            },
        }
    }

    pub(super) fn is_eligible(&self) -> bool {
        self.is_good && self.has_quota
    }
}
