//! How much may be in flight on a carrier.

use ropewalk_quantities::Time;

use super::{
    CAP_GAIN, CAP_SECONDS, Carrier, DUE_ERROR, INITIAL_WINDOW, SLOW_START_GAIN, STARTUP_GAIN,
};

/// However slow the carrier is, in frames.
const CAP_FRAMES: usize = 4;
/// While the queue on the way is drained, to see the round trip without it.
const DRAIN_GAIN: f64 = 0.75;

/// Most that may be in flight: what rests on the carrier alone, so that it need not be found again for each
/// of them whenever one changes how long the reassembly buffer lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    /// Bytes that its link is known to hold.
    own: f64,
    /// Bytes per second, and seconds before which none of them waits in the reassembly buffer.
    rate: f64,
    seconds: f64,
}

impl Limit {
    /// Of so many bytes, however long the buffer lasts.
    fn of(bytes: f64) -> Limit {
        Limit {
            own: bytes,
            rate: 1.0,
            seconds: f64::INFINITY,
        }
    }

    /// In bytes, where the reassembly buffer takes for so many seconds what all carriers bring.
    pub(crate) fn bytes(&self, lasts: f64) -> u64 {
        self.own.min(absorbed(self.rate, self.seconds, lasts)) as u64
    }
}

/// Bytes that may be in flight, at such a rate, before others wait for them longer than the reassembly
/// buffer lasts.
fn absorbed(rate: f64, seconds: f64, lasts: f64) -> f64 {
    (rate * (seconds + lasts)).max(INITIAL_WINDOW)
}

impl Carrier {
    /// Most that may be in flight.
    pub(crate) fn limit(&self) -> Limit {
        let Some(rate) = self.rate.estimate() else {
            // TCP sends no more, either, before it is answered. A segment of it was the answer to the
            // handshake, and a frame goes beyond the limit.
            return Limit::of(0.8 * INITIAL_WINDOW);
        };
        if self.round_trip.is_probed() {
            // One that is empty has room, however little a round trip carries.
            return Limit::of((rate * DRAIN_GAIN * self.min_rtt()).max(1.0));
        }
        let floor = self.floor();
        let pipe = |rate: f64, gain: f64| rate * (gain * floor + CAP_SECONDS);
        let trimmed = pipe(rate, CAP_GAIN).max((CAP_FRAMES * self.payload_len()) as f64);
        let own = if self.rate.is_full() {
            trimmed
        } else if self.filling {
            trimmed.max(self.slow_start.bytes())
        } else {
            // As fast as TCP, as far as the link is known to go.
            let known = self
                .expected
                .map_or(0.0, |known| pipe(known.rate, CAP_GAIN));
            let doubled = pipe(rate, SLOW_START_GAIN).min(known);
            pipe(rate, STARTUP_GAIN).max(doubled).max(INITIAL_WINDOW)
        };
        Limit {
            own,
            rate: self.present.at_most(rate),
            seconds: self.absorbs_after(),
        }
    }

    /// Seconds before which nothing that it is given waits for others.
    fn absorbs_after(&self) -> f64 {
        CAP_GAIN * self.min_rtt() + CAP_SECONDS
    }

    /// Bytes that may be in flight at what it brings now, before others wait for them longer than the
    /// reassembly buffer lasts.
    pub(crate) fn absorbed_now(&self, lasts: f64) -> u64 {
        absorbed(self.found_rate(), self.absorbs_after(), lasts) as u64
    }

    /// Whether one more frame may be put on it now, where the reassembly buffer lasts so long.
    pub(crate) fn has_room(&self, now: Time, lasts: f64) -> bool {
        let in_flight = self.in_flight.bytes();
        // Before the oldest frame is due there is no room beyond the limit.
        let is_due = || self.in_flight.oldest().is_some_and(|sent| sent.due <= now);
        let beyond = || is_due() && self.room_at(lasts).is_some_and(|room| room <= now);
        let is_open = self.opens_at().is_none_or(|opens| opens <= now);
        !self.blocked && is_open && (in_flight < self.limit().bytes(lasts) || beyond())
    }

    /// When there is room beyond the limit. While TCP repairs a loss it acknowledges nothing in order,
    /// and yet what it holds leaves: from when the oldest frame is missed on, as much more may follow
    /// as the rate carries, and at most as much again as the limit.
    pub(crate) fn room_at(&self, lasts: f64) -> Option<Time> {
        if self.round_trip.is_probed() {
            return None;
        }
        let oldest = self.in_flight.oldest()?;
        let limit = self.limit().bytes(lasts);
        let beyond = self.in_flight.bytes().checked_sub(limit)?;
        let missed = DUE_ERROR * self.min_rtt();
        let takes = Time::from_secs_f64(missed + beyond as f64 / self.rate_or_guess());
        (beyond < limit).then_some(oldest.due + takes)
    }
}
