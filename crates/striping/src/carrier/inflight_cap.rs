//! In-flight cap of a carrier.

use ropewalk_quantities::Time;

use super::{
    CAP_GAIN, CAP_SECONDS, Carrier, DUE_ERROR, INITIAL_WINDOW, SLOW_START_GAIN, STARTUP_GAIN,
};

const CAP_FRAMES: usize = 4;
/// Gain while the queue is drained to measure the round trip without it.
const DRAIN_GAIN: f64 = 0.75;

/// The in-flight cap, in parts that depend on the carrier alone. They stay valid when another carrier changes
/// how long the reassembly buffer lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlightCap {
    /// Bytes that fit the link.
    own: f64,
    /// The rate in bytes per second, and the seconds for which its data block no other carrier's in the
    /// reassembly buffer.
    rate: f64,
    seconds: f64,
}

impl InFlightCap {
    fn of(bytes: f64) -> InFlightCap {
        InFlightCap {
            own: bytes,
            rate: 1.0,
            seconds: f64::INFINITY,
        }
    }

    /// Returns the cap in bytes, if all carriers together fill the reassembly buffer in `buffer_secs`
    /// seconds.
    pub(crate) fn bytes(&self, buffer_secs: f64) -> u64 {
        self.own.min(absorbed(self.rate, self.seconds, buffer_secs)) as u64
    }
}

/// Returns the bytes that may be in flight at this rate before they block the data of other carriers for
/// longer than the reassembly buffer lasts.
fn absorbed(rate: f64, seconds: f64, buffer_secs: f64) -> f64 {
    (rate * (seconds + buffer_secs)).max(INITIAL_WINDOW)
}

impl Carrier {
    pub(crate) fn in_flight_cap(&self) -> InFlightCap {
        let Some(rate) = self.rate.estimate() else {
            // TCP sends no more than its initial window before the first acknowledgement. One segment of it
            // was used by the handshake's reply, and the cap may be exceeded by a frame.
            return InFlightCap::of(0.8 * INITIAL_WINDOW);
        };
        if self.round_trip.is_probed() {
            // At least one byte, so that an empty carrier always has room.
            return InFlightCap::of((rate * DRAIN_GAIN * self.min_rtt()).max(1.0));
        }
        let floor = self.floor();
        let pipe = |rate: f64, gain: f64| rate * (gain * floor + CAP_SECONDS);
        let trimmed = pipe(rate, CAP_GAIN).max((CAP_FRAMES * self.payload_len()) as f64);
        let own = if self.rate.full {
            trimmed
        } else if self.filling {
            trimmed.max(self.slow_start.bytes)
        } else {
            // As fast as TCP's slow start, up to the known rate of the link.
            let known = self
                .expected
                .map_or(0.0, |known| pipe(known.rate, CAP_GAIN));
            let doubled = pipe(rate, SLOW_START_GAIN).min(known);
            pipe(rate, STARTUP_GAIN).max(doubled).max(INITIAL_WINDOW)
        };
        InFlightCap {
            own,
            rate: self.recent_rate.at_most(rate),
            seconds: self.absorbs_after(),
        }
    }

    fn absorbs_after(&self) -> f64 {
        CAP_GAIN * self.min_rtt() + CAP_SECONDS
    }

    /// Returns the bytes that may be in flight at its recent rate before they block the data of other
    /// carriers for longer than the reassembly buffer lasts.
    pub(crate) fn absorbed_now(&self, buffer_secs: f64) -> u64 {
        absorbed(self.rate_or_low_guess(), self.absorbs_after(), buffer_secs) as u64
    }

    /// Whether another frame may be sent now, if the reassembly buffer lasts this long.
    pub(crate) fn has_room(&self, now: Time, buffer_secs: f64) -> bool {
        let in_flight = self.in_flight.bytes;
        let is_due = || self.in_flight.oldest().is_some_and(|sent| sent.due <= now);
        let limit = self.in_flight_cap().bytes(buffer_secs);
        let beyond = || is_due() && self.room_at(limit).is_some_and(|room| room <= now);
        let is_open = self.usage.allowed_at().is_none_or(|opens| opens <= now);
        !self.blocked && is_open && (in_flight < limit || beyond())
    }

    /// Returns when there is room beyond a cap of `limit` bytes. While TCP repairs a loss it acknowledges
    /// nothing in order, but later data leave the network. So once the oldest frame is overdue, more may
    /// follow at the carrier's rate, up to twice the cap.
    pub(crate) fn room_at(&self, limit: u64) -> Option<Time> {
        if self.round_trip.is_probed() {
            return None;
        }
        let oldest = self.in_flight.oldest()?;
        let beyond = self.in_flight.bytes.checked_sub(limit)?;
        let missed = DUE_ERROR * self.min_rtt();
        let takes = Time::from_secs_f64(missed + beyond as f64 / self.rate_or_guess());
        (beyond < limit).then_some(oldest.due + takes)
    }
}
