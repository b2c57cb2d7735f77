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
use crate::carrier_set::{CarrierIndex, Responsible};

impl<P: Payload> Association<P> {
    /// Queues the data that block a stream for retransmission, if the carrier `by` delivers them much sooner
    /// or they are overdue. Called when `by` has room and nothing may be sent. Returns whether there are any.
    pub(super) fn retransmit_blocking(&mut self, now: Time, by: CarrierIndex) -> bool {
        let blocking = self.blocking_full_window();
        let Some(blocking) = blocking.filter(|blocking| self.is_faster_for(now, by, *blocking))
        else {
            return false;
        };
        let slow = blocking.carrier;
        let until =
            now + Time::from_secs_f64(self.carriers.arrival(by).arrives_in + self.ack_delay(slow));
        self.carriers[slow].late = true;
        self.requeue_if_due(slow, |due| due <= now || due > until);
        true
    }

    /// Returns the carrier responsible for the bytes that block a stream with a full window.
    pub(super) fn blocking_full_window(&self) -> Option<Responsible> {
        let mut streams = self.streams.iter();
        let (id, stream) = streams.find(|(_, stream)| {
            !stream.send_ended && stream.send.is_window_full() && stream.send.has_gap()
        })?;
        self.carriers.responsible_for(*id, stream.send.base())
    }

    /// Whether the carrier `by` delivers the blocking bytes much sooner, or they are overdue.
    pub(super) fn is_faster_for(&self, now: Time, by: CarrierIndex, blocking: Responsible) -> bool {
        let Responsible { carrier, due } = blocking;
        let left = due.saturating_sub(now).as_secs_f64() - self.ack_delay(carrier);
        let arrives_in = self.carriers.arrival(by).arrives_in;
        carrier != by
            && (left > 2.0 * arrives_in + OVERDUE.as_secs_f64() || now >= due + OVERDUE / 2)
    }

    /// Estimates the seconds that an acknowledgement needs on a carrier: half a round trip.
    fn ack_delay(&self, at: CarrierIndex) -> f64 {
        self.carriers[at].min_rtt() / 2.0
    }

    /// Retransmits a part of the data in flight on a carrier whose link has slowed down: the part that it
    /// would deliver only after the reassembly buffer is full, if the others together are faster.
    ///
    /// Waiting until each frame is overdue would block the stream for the frames' transmission time at the
    /// new rate.
    pub(super) fn requeue_excess(&mut self, at: CarrierIndex) {
        let carrier = &self.carriers[at];
        let own = self.carriers.arrival(at).rate;
        let most = carrier.absorbed_now(self.carriers.buffer_secs);
        let judged = carrier.in_flight.oldest().map(|sent| sent.content);
        if carrier.in_flight.bytes <= most
            || !carrier.is_good()
            || judged.is_some_and(|content| self.deadline_of_content(&content).is_some())
            || self.carriers.rates() - own < own
        {
            return;
        }
        let mut ahead = 0;
        self.requeue_where(at, |sent| {
            ahead += sent.wire_len;
            ahead > most
        });
    }
}
