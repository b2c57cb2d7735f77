//! Before when a carrier asks for nothing.

use ropewalk_quantities::Time;

use super::{Carrier, DUE_ERROR};

/// Least time that an oldest frame is overdue before it is sent again.
pub(crate) const OVERDUE: Time = Time::from_millis(25);

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
}
