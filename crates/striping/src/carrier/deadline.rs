//! When something is due on a carrier, and before when it asks for nothing.

use ropewalk_quantities::Time;

use super::{Carrier, DUE_ERROR};

/// Least time that an oldest frame is overdue before it is sent again.
pub(crate) const OVERDUE: Time = Time::from_millis(25);
/// Beyond its time, an oldest frame says that something is wrong.
const LATE: Time = Time::from_millis(25);
/// Least silence after which a carrier that has brought something is probed.
const FED_SILENCE: Time = Time::from_millis(100);

impl Carrier {
    /// No deadline of it is before this: neither its own, nor those in which others have a say, since
    /// they can only put them off. It rests on the carrier alone, and on the shorter `keepalive`.
    ///
    /// So it stands as long as nothing happens to the carrier, and of many carriers only those need be
    /// looked at for which it is near.
    pub(crate) fn not_due_before(&self, keepalive: Time) -> Time {
        let own = [
            self.acknowledgement.due(),
            self.suspicious_at(),
            self.probe_at(keepalive),
            self.not_overdue_before(),
            self.no_room_before(),
            self.opens_at().filter(|_| !self.blocked),
        ];
        own.into_iter().flatten().fold(Time::MAX, Time::min)
    }

    /// No frame of it is missed before: the round trip of others comes to that, and what it may wait.
    fn not_overdue_before(&self) -> Option<Time> {
        if self.listening.is_suspected() {
            None
        } else if self.late {
            self.in_flight.first_here().map(|sent| sent.due)
        } else {
            let oldest = self.in_flight.oldest().filter(|sent| !sent.elsewhere)?;
            Some(oldest.due + OVERDUE)
        }
    }

    /// No room beyond its cap is there before: what is beyond takes its time besides, and how much that is
    /// rests on what all carriers bring.
    fn no_room_before(&self) -> Option<Time> {
        if self.blocked {
            return None;
        }
        let oldest = self.in_flight.oldest()?;
        Some(oldest.due + Time::from_secs_f64(DUE_ERROR * self.min_rtt()))
    }

    /// When the oldest thing left to which there is no answer.
    pub(crate) fn waiting_since(&self) -> Option<Time> {
        let frame = self.in_flight.oldest().map(|sent| sent.at);
        let ping = self.ping.map(|(_, at)| at);
        match (frame, ping) {
            (Some(frame), Some(ping)) => Some(frame.min(ping)),
            (frame, ping) => frame.or(ping),
        }
    }

    /// When it is to be probed, if nothing waits for its answer: soon after what it brought has ended,
    /// which only this end can find out if the link has, and then every `keepalive`.
    pub(crate) fn probe_at(&self, keepalive: Time) -> Option<Time> {
        if self.waiting_since().is_some() || self.ping_due {
            return None;
        }
        let silence = if self.fed {
            let srtt = self.round_trip.smoothed().unwrap_or(Time::ZERO);
            srtt.max(FED_SILENCE).min(keepalive)
        } else {
            keepalive
        };
        Some(self.listening.heard_at() + silence)
    }

    /// When its silence becomes suspicious; `None` if it owes no answer or is suspected already.
    ///
    /// Not before the oldest frame is overdue: on a slow link it may take long. While the rate is
    /// not known, that is not known either.
    pub(crate) fn suspicious_at(&self) -> Option<Time> {
        if self.listening.is_suspected() {
            return None;
        }
        let since = self.waiting_since()?;
        let Some(srtt) = self.round_trip.smoothed() else {
            return Some(since + self.patience);
        };
        let rttvar = self.round_trip.deviation();
        let steady = self.rate.is_full();
        let silence = self.listening.deadline(since, srtt, rttvar, steady);
        let least = match (self.in_flight.oldest(), self.rate.estimate()) {
            (Some(_), None) => since + self.patience,
            (Some(oldest), Some(_)) => oldest.due + LATE,
            (None, _) if !self.answered => since + self.patience,
            (None, _) => Time::ZERO,
        };
        Some(silence.max(least))
    }
}
