//! Deadlines of a carrier, and a lower bound of them.

use ropewalk_quantities::Time;

use super::{Carrier, DUE_ERROR};

/// Least delay beyond `due` before the oldest frame is retransmitted.
pub(crate) const OVERDUE: Time = Time::from_millis(25);
/// Delay of the oldest frame that shows trouble on the carrier.
const LATE: Time = Time::from_millis(25);
/// Least silence before a carrier that has delivered data is probed.
const FED_SILENCE: Time = Time::from_millis(100);

#[inline]
pub(crate) fn or_never(time: Option<Time>) -> Time {
    time.unwrap_or(Time::MAX)
}

impl Carrier {
    /// Returns a lower bound of all deadlines of the carrier: its own, and those that other carriers can only
    /// delay. It depends on this carrier and on the shorter `keepalive` alone.
    ///
    /// So it stays valid while nothing happens to the carrier, and only carriers with a near bound need be
    /// examined.
    pub(crate) fn not_due_before(&self, keepalive: Time) -> Time {
        let allowed_at = self.usage.allowed_at().filter(|_| !self.blocked);
        or_never(self.acknowledgement.due())
            .min(or_never(self.suspicious_at()))
            .min(or_never(self.probe_at(keepalive)))
            .min(or_never(self.not_overdue_before()))
            .min(or_never(self.no_room_before()))
            .min(or_never(allowed_at))
    }

    /// Returns a lower bound of the time at which a frame is overdue, without the other carriers' round trip
    /// and the permitted delay.
    fn not_overdue_before(&self) -> Option<Time> {
        if self.liveness.is_suspected() {
            None
        } else if self.late {
            self.in_flight.first_responsible().map(|sent| sent.due)
        } else {
            let oldest = self.in_flight.oldest().filter(|sent| !sent.elsewhere)?;
            Some(oldest.due + OVERDUE)
        }
    }

    /// Returns a lower bound of the time at which there is room beyond the cap. Bytes in flight beyond it
    /// take more time, which depends on all carriers.
    fn no_room_before(&self) -> Option<Time> {
        if self.blocked {
            return None;
        }
        let oldest = self.in_flight.oldest()?;
        Some(oldest.due + Time::from_secs_f64(DUE_ERROR * self.min_rtt()))
    }

    pub(crate) fn waiting_since(&self) -> Option<Time> {
        let frame = self.in_flight.oldest().map(|sent| sent.at);
        let ping = self.pings.outstanding_since();
        match (frame, ping) {
            (Some(frame), Some(ping)) => Some(frame.min(ping)),
            (frame, ping) => frame.or(ping),
        }
    }

    /// Returns when to send a ping, if no answer is outstanding: soon after data stopped arriving, since only
    /// this end can find out whether the link has failed, and then every `keepalive`.
    pub(crate) fn probe_at(&self, keepalive: Time) -> Option<Time> {
        if self.waiting_since().is_some() || self.pings.is_due {
            return None;
        }
        let silence = if self.delivered_since_ping {
            let srtt = self.round_trip.smoothed().unwrap_or(Time::ZERO);
            srtt.max(FED_SILENCE).min(keepalive)
        } else {
            keepalive
        };
        Some(self.liveness.heard_at + silence)
    }

    /// Returns when silence becomes suspicious; `None` if no answer is outstanding or the carrier is
    /// suspected already.
    ///
    /// That is not before the oldest frame is overdue, which may take long on a slow link. It is unknown
    /// before the first rate sample.
    pub(crate) fn suspicious_at(&self) -> Option<Time> {
        if self.liveness.is_suspected() {
            return None;
        }
        let since = self.waiting_since()?;
        let Some(srtt) = self.round_trip.smoothed() else {
            return Some(since + self.liveness.first_timeout);
        };
        let rttvar = self.round_trip.deviation();
        let steady = self.rate.full;
        let silence = self.liveness.deadline(since, srtt, rttvar, steady);
        let least = match (self.in_flight.oldest(), self.rate.estimate()) {
            (Some(_), None) => since + self.liveness.first_timeout,
            (Some(oldest), Some(_)) => oldest.due + LATE,
            (None, _) if !self.liveness.is_answered => since + self.liveness.first_timeout,
            (None, _) => Time::ZERO,
        };
        Some(silence.max(least))
    }
}
