//! Whether a link answers: when it is asked, when what is in flight on it counts as late, and when it is
//! suspected of being down.

use ropewalk_quantities::Time;

use super::RateControl;
use crate::tunnel::silence;

impl RateControl {
    /// The peer was heard on the link.
    pub fn on_heard(&mut self, now: Time) {
        self.silence.on_heard(now);
    }

    /// When the link is suspected at the earliest, if it is asked then.
    pub(in crate::tunnel) fn suspects_at(&self) -> Option<Time> {
        self.silence.suspects_at(&self.outbound, &self.delays)
    }

    /// Whether a ping is to be sent on the link now; it is due at the time of
    /// [`timeout`](RateControl::timeout).
    pub fn ask(&mut self, now: Time, due: Time) -> bool {
        let silence = &mut self.silence;
        let suspects = silence.suspect(now, &self.outbound, &self.delays);
        if suspects {
            self.outbound.forget_outstanding();
        }
        let asks = silence.ask(now, due);
        if suspects || asks {
            self.follow_silence();
        }
        asks
    }

    /// Whether what is in flight should have been answered by now and is to be sent on other links as well;
    /// once for each silence.
    pub fn is_late(&mut self, now: Time) -> bool {
        let is_late = self.late_at().is_some_and(|at| now >= at);
        if is_late {
            self.silence.note_late(&self.outbound);
            self.follow_silence();
        }
        is_late
    }

    /// When that will be so: what is in flight counts as late.
    pub(in crate::tunnel) fn late_at(&self) -> Option<Time> {
        let (outbound, delays) = (&self.outbound, &self.delays);
        self.silence.late_at(outbound, delays)
    }

    /// To be called after what is in flight, delays or the silence have changed.
    pub(super) fn follow_silence(&mut self) {
        self.silence.follow(&self.outbound, &self.delays);
    }

    /// It is given nothing until it is heard again.
    pub(in crate::tunnel) fn hold_back(&mut self) {
        self.silence.hold_back();
    }

    /// When a ping is to be sent on the link. `keepalive`: the interval of pings while nothing passes through
    /// the tunnel.
    #[must_use]
    pub fn timeout(&self, keepalive: Option<Time>) -> Time {
        let (outbound, delays) = (&self.outbound, &self.delays);
        self.silence.timeout(keepalive, outbound, delays)
    }

    /// How long a datagram may be in flight before it is answered, a repetition included.
    pub(in crate::tunnel) fn answer_timeout(&self) -> Time {
        silence::answer_timeout(&self.delays)
    }

    /// Whether the link is suspected of being down.
    #[must_use]
    pub fn suspected(&self) -> bool {
        self.silence.suspected()
    }

    /// How many times it was suspected.
    #[must_use]
    pub fn suspicions(&self) -> u64 {
        self.silence.suspicions()
    }
}
