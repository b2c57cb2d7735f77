//! Liveness of a link: pings, late datagrams, and suspicion.

use ropewalk_quantities::Time;

use super::RateControl;
use crate::tunnel::silence;

impl RateControl {
    /// Notes that the peer was heard on the link.
    pub fn on_heard(&mut self, now: Time) {
        self.silence.on_heard(now);
    }

    pub(in crate::tunnel) fn suspects_at(&self) -> Option<Time> {
        self.silence.suspects_at(&self.link_sender, &self.delays)
    }

    /// Whether to ping the link now; the ping is due at the time of [`timeout`](RateControl::timeout).
    pub fn poll_ping(&mut self, now: Time, due: Time) -> bool {
        let silence = &mut self.silence;
        let suspects = silence.suspect(now, &self.link_sender, &self.delays);
        if suspects {
            self.link_sender.forget_outstanding();
        }
        let asks = silence.poll_ping(now, due);
        if suspects || asks {
            self.update_silence();
        }
        asks
    }

    /// Whether datagrams in flight are late and must be sent on other links as well; once for each silence.
    pub fn is_late(&mut self, now: Time) -> bool {
        let is_late = self.late_at().is_some_and(|at| now >= at);
        if is_late {
            self.silence.note_late(&self.link_sender);
            self.update_silence();
        }
        is_late
    }

    pub(in crate::tunnel) fn late_at(&self) -> Option<Time> {
        let (link_sender, delays) = (&self.link_sender, &self.delays);
        self.silence.late_at(link_sender, delays)
    }

    /// Updates cached times. Call it after any change of datagrams in flight, delays or the silence.
    pub(super) fn update_silence(&mut self) {
        self.silence.update(&self.link_sender, &self.delays);
    }

    pub(in crate::tunnel) fn suspend(&mut self) {
        self.silence.suspend();
    }

    /// Returns when to ping the link. `keepalive`: the interval of pings in a quiet tunnel.
    #[must_use]
    pub fn timeout(&self, keepalive: Option<Time>) -> Time {
        let (link_sender, delays) = (&self.link_sender, &self.delays);
        self.silence.timeout(keepalive, link_sender, delays)
    }

    /// Returns the time limit of the answer to a datagram, a repetition included.
    pub(in crate::tunnel) fn answer_timeout(&self) -> Time {
        silence::answer_timeout(&self.delays)
    }

    /// Whether the link is suspected of being down.
    #[must_use]
    pub fn suspected(&self) -> bool {
        self.silence.suspected
    }

    /// Returns the number of suspicions.
    #[must_use]
    pub fn suspicions(&self) -> u64 {
        self.silence.suspicions
    }
}
