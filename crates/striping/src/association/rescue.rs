//! A window that is full of what waits for a slow carrier is opened by a faster one.
//!
//! Where all of a stream's window is taken by bytes that wait for others, nobody has anything to send.
//! Then a carrier with room carries what is missing itself, if it is sooner there than whoever holds
//! it, who gets nothing new until that is acknowledged (as MPTCP's opportunistic retransmission and
//! penalisation: Raiciu et al., NSDI 2012, section 4.2). So a link that holds up the reassembly buffer
//! costs what it brings, and no more.
//!
//! Where a link has slowed down, that is not waited for: what fills the window for too long is known then.

use ropewalk_quantities::Time;

use super::Association;
use crate::Payload;
use crate::carrier::deadline::OVERDUE;
use crate::carriers::Holder;

impl<P: Payload> Association<P> {
    /// This carrier has room, and nothing may be sent: gives it what holds a stream up, if it brings
    /// that much sooner, or if that is overdue. Says whether there is anything.
    pub(super) fn rescue(&mut self, now: Time, by: usize) -> bool {
        let Some(holder) = self.holds_up_a_full_window() else {
            return false;
        };
        if !self.would_rescue(now, by, holder) {
            return false;
        }
        let (holder, _) = holder;
        let until =
            now + Time::from_secs_f64(self.carriers.lane(by).arrives_in + self.back(holder));
        self.carriers[holder].late = true;
        self.give_up_if(holder, |due| due <= now || due > until);
        true
    }

    /// Who holds what a stream waits for whose window is full, and when that was expected to be acknowledged.
    pub(super) fn holds_up_a_full_window(&mut self) -> Option<Holder> {
        let mut streams = self.streams.iter();
        let (number, stream) = streams.find(|(_, stream)| {
            !stream.send_ended && stream.send.is_crowded() && stream.send.has_gap()
        })?;
        let (number, base) = (*number, stream.send.base());
        self.carriers.holder(number, base)
    }

    /// Whether a carrier that has nothing else to send brings what this one holds much sooner, or that is overdue.
    pub(super) fn would_rescue(&self, now: Time, by: usize, (holder, due): Holder) -> bool {
        let own = self.carriers.lane(by).arrives_in;
        let left = due.saturating_sub(now).as_secs_f64() - self.back(holder);
        let is_sooner = left > 2.0 * own + OVERDUE.as_secs_f64();
        holder != by && (is_sooner || now >= due + OVERDUE / 2)
    }

    /// Seconds until the acknowledgement of what has arrived over a carrier is there: half a round trip.
    fn back(&self, at: usize) -> f64 {
        self.carriers[at].min_rtt() / 2.0
    }

    /// The link of a carrier has slowed down. What that holds and brings only when the reassembly buffer is
    /// full of what the others bring meanwhile goes over them at once, if they are faster than it is.
    ///
    /// To wait until each of its frames is overdue would stop the stream for as long as they take at the new
    /// rate; to send them again takes the others as much less as they are faster.
    pub(super) fn shed(&mut self, at: usize) {
        let carrier = &self.carriers[at];
        let own = self.carriers.lane(at).rate;
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
