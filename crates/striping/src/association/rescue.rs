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

impl<P: Payload> Association<P> {
    /// This carrier has room, and nothing may be sent: gives it what holds a stream up, if it brings
    /// that much sooner, or if that is overdue. Says whether there is anything.
    pub(super) fn rescue(&mut self, now: Time, by: usize) -> bool {
        let mut streams = self.streams.iter();
        let stuck = streams.find(|(_, stream)| {
            !stream.send_ended && stream.send.is_crowded() && stream.send.has_gap()
        });
        let Some((stream, base)) = stuck.map(|(number, stream)| (*number, stream.send.base()))
        else {
            return false;
        };
        let answers = self.carriers.holder(stream, base);
        let Some((holder, due)) = answers.filter(|(at, _)| *at != by) else {
            return false;
        };
        let own = self.carriers[by].arrives_in(self.carriers[by].payload_len() as u64);
        // Until its acknowledgement is due, half a round trip after it has arrived.
        let back = self.carriers[holder].min_rtt() / 2.0;
        let left = due.saturating_sub(now).as_secs_f64() - back;
        let is_sooner = left > 2.0 * own + OVERDUE.as_secs_f64();
        if !is_sooner && now < due + OVERDUE / 2 {
            return false;
        }
        self.carriers[holder].late = true;
        let until = now + Time::from_secs_f64(own + back);
        self.give_up_if(holder, |due| due <= now || due > until);
        true
    }

    /// The link of a carrier has slowed down. What that holds and brings only when the reassembly buffer is
    /// full of what the others bring meanwhile goes over them at once, if they are faster than it is.
    ///
    /// To wait until each of its frames is overdue would stop the stream for as long as they take at the new
    /// rate; to send them again takes the others as much less as they are faster.
    pub(super) fn shed(&mut self, at: usize) {
        let carrier = &self.carriers[at];
        let own = self.carriers.lane(at).rate;
        let most = carrier.absorbed_now();
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
