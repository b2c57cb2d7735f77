//! Opportunistic retransmission: a faster carrier retransmits data that block a stream.
//!
//! When a stream's window is full of bytes behind a gap, nothing new can be sent. Then a carrier with room
//! retransmits the missing bytes, if it delivers them sooner than the carrier that has them in flight. The
//! slower carrier gets no new data until they are acknowledged (MPTCP's opportunistic retransmission and
//! penalisation: Raiciu et al., NSDI 2012, section 4.2). So a link that fills the reassembly buffer costs no
//! more than it contributes.
//!
//! When a link slows down, the retransmission does not wait for the window to be full.

use ropewalk_quantities::Time;

use super::Association;
use crate::Payload;
use crate::carrier::deadline::OVERDUE;
use crate::carriers::Responsible;

impl<P: Payload> Association<P> {
    /// Queues the data that block a stream for retransmission, if the carrier `by` delivers them much sooner
    /// or they are overdue. Called when `by` has room and nothing may be sent. Returns whether there are any.
    pub(super) fn rescue(&mut self, now: Time, by: usize) -> bool {
        let blocking = self.blocking_full_window();
        let Some(blocking) = blocking.filter(|blocking| self.would_rescue(now, by, *blocking))
        else {
            return false;
        };
        let slow = blocking.carrier;
        let until =
            now + Time::from_secs_f64(self.carriers.arrival(by).arrives_in + self.back(slow));
        self.carriers[slow].late = true;
        self.give_up_if(slow, |due| due <= now || due > until);
        true
    }

    /// Returns the carrier responsible for the bytes that block a stream with a full window.
    pub(super) fn blocking_full_window(&self) -> Option<Responsible> {
        let mut streams = self.streams.iter();
        let (number, stream) = streams.find(|(_, stream)| {
            !stream.send_ended && stream.send.is_crowded() && stream.send.has_gap()
        })?;
        self.carriers.responsible_for(*number, stream.send.base())
    }

    /// Whether the carrier `by` delivers the blocking bytes much sooner, or they are overdue.
    pub(super) fn would_rescue(&self, now: Time, by: usize, blocking: Responsible) -> bool {
        let Responsible { carrier, due } = blocking;
        let left = due.saturating_sub(now).as_secs_f64() - self.back(carrier);
        let arrives_in = self.carriers.arrival(by).arrives_in;
        carrier != by
            && (left > 2.0 * arrives_in + OVERDUE.as_secs_f64() || now >= due + OVERDUE / 2)
    }

    /// Estimates the seconds that an acknowledgement needs on a carrier: half a round trip.
    fn back(&self, at: usize) -> f64 {
        self.carriers[at].min_rtt() / 2.0
    }

    /// Retransmits a part of the data in flight on a carrier whose link has slowed down: the part that it
    /// would deliver only after the reassembly buffer is full, if the others together are faster.
    ///
    /// Waiting until each frame is overdue would block the stream for the frames' transmission time at the
    /// new rate.
    pub(super) fn shed(&mut self, at: usize) {
        let carrier = &self.carriers[at];
        let own = self.carriers.arrival(at).rate;
        let most = carrier.absorbed_now(self.carriers.lasts());
        let judged = carrier.in_flight.oldest().map(|sent| sent.content);
        if carrier.in_flight.bytes() <= most
            || !carrier.is_good()
            || judged.is_some_and(|content| self.judged_by(&content).is_some())
            || self.carriers.rates() - own < own
        {
            return;
        }
        let mut ahead = 0;
        self.give_up_where(at, |sent| {
            ahead += sent.wire_len;
            ahead > most
        });
    }
}
