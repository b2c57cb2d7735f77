//! Failover: data in flight on silent or late carriers are retransmitted on others.

use std::mem;

use ropewalk_quantities::Time;

use super::Association;
use crate::carrier::deadline::{OVERDUE, or_never};
use crate::carrier::in_flight::{Content, Sent};
use crate::event::NO_CARRIER;
use crate::{Event, Payload};

/// Most time TCP may take to repair a loss, which needs a round trip.
const REPAIR: Time = Time::from_millis(100);

impl<P: Payload> Association<P> {
    /// Returns the time of the next call of [`handle_timeout`](Association::handle_timeout). It may change
    /// after any call.
    #[must_use]
    pub fn poll_timeout(&mut self) -> Option<Time> {
        match self.due {
            Some(known) => known,
            None => {
                let found = self.find_timeout();
                self.due = Some(found);
                found
            }
        }
    }

    fn find_timeout(&mut self) -> Option<Time> {
        if self.closed.is_some() {
            return None;
        }
        let mut next = self
            .alone_since
            .map_or(Time::MAX, |since| since.saturating_add(self.config.timeout));
        next = next.min(self.table.due());
        self.carriers.settle();
        let mut from = 0;
        while let Some(at) = self.carriers.next_due_before(next, from) {
            from = at + 1;
            next = next.min(self.due_before(at, next));
        }
        (next < Time::MAX).then_some(next)
    }

    /// Returns when something is due on a carrier, if that is before `limit`; else a time that is not.
    pub(super) fn due_before(&mut self, at: usize, limit: Time) -> Time {
        let carrier = &self.carriers[at];
        let acknowledges_at = carrier
            .acknowledgement
            .due()
            .filter(|_| self.carriers.is_asleep(at));
        let due = or_never(acknowledges_at)
            .min(or_never(carrier.suspicious_at()))
            .min(or_never(self.opens_at(at)))
            .min(or_never(self.probe_at(at)));
        let oldest = carrier
            .in_flight
            .oldest()
            .map_or(Time::MAX, |sent| sent.due);
        let is_late = carrier.late;
        // Room beyond the cap opens only when the oldest frame is overdue.
        let due = match oldest < due.min(limit) {
            true => due.min(or_never(self.room_at(at))),
            false => due,
        };
        // Until the carrier is late, none of its frames is overdue before this.
        match is_late || oldest.saturating_add(OVERDUE) < due.min(limit) {
            true => due.min(or_never(self.overdue_at(at))),
            false => due,
        }
    }

    /// Handles all expired timers. Call it at or after the time of
    /// [`poll_timeout`](Association::poll_timeout); an earlier call does no harm.
    pub fn handle_timeout(&mut self, now: Time) {
        self.due = None;
        if self.closed.is_some() {
            return;
        }
        if self
            .alone_since
            .is_some_and(|since| since.saturating_add(self.config.timeout) <= now)
        {
            self.end(NO_CARRIER);
            return;
        }
        if self.table.is_asked_again(now) {
            self.wake_all();
        }
        self.rescue_late(now);
        let after = now.saturating_add(Time::from_nanos(1));
        self.carriers.settle();
        let mut from = 0;
        while let Some(at) = self.carriers.next_due_before(after, from) {
            from = at + 1;
            let is_past = |time: Option<Time>| time.is_some_and(|time| time <= now);
            if is_past(self.carriers[at].acknowledgement.due()) {
                self.carriers.wake(at);
            }
            if is_past(self.room_at(at)) || is_past(self.opens_at(at)) {
                self.carriers.wake(at);
            }
            if is_past(self.carriers[at].suspicious_at()) {
                self.suspect(now, at);
            } else if is_past(self.overdue_at(at)) {
                self.overtake(now, at);
            }
            if is_past(self.probe_at(at)) {
                self.carriers[at].pings.ask();
                self.carriers[at].fed = false;
                self.carriers.wake(at);
            }
            self.carriers.settle();
        }
    }

    /// Returns when a full carrier has room again without an acknowledgement.
    fn room_at(&self, at: usize) -> Option<Time> {
        let carrier = &self.carriers[at];
        if !self.carriers.is_asleep(at) || self.turns.len() == 0 || !self.may_send(at) {
            return None;
        }
        let room = carrier.room_at(self.carriers.in_flight_cap(at));
        room.filter(|room| *room > self.carriers.polled_at(at))
    }

    /// Returns when the throttle of a carrier that had nothing to send next lets it send.
    fn opens_at(&self, at: usize) -> Option<Time> {
        let opens = self.carriers[at].usage.opens_at()?;
        if !self.carriers.is_asleep(at) || self.turns.len() == 0 || !self.may_send(at) {
            return None;
        }
        Some(opens).filter(|opens| *opens > self.carriers.polled_at(at))
    }

    /// Ends the association for a reason other than a call of `close`.
    pub(super) fn end(&mut self, code: u32) {
        for number in self.streams.keys() {
            let stream = crate::StreamId(*number);
            self.events.push_back(Event::StreamReset { stream, code });
        }
        self.streams.clear();
        self.streams_cost = 0;
        self.closed = Some(code);
        self.events.push_back(Event::Closed { code });
    }

    fn probe_at(&self, at: usize) -> Option<Time> {
        let keepalive = match self.streams.is_empty() {
            true => self.config.idle_keepalive,
            false => self.config.keepalive,
        };
        let carrier = &self.carriers[at];
        carrier.probe_at(match carrier.config.metered {
            true => keepalive.max(self.config.metered_keepalive),
            false => keepalive,
        })
    }

    fn suspect(&mut self, now: Time, at: usize) {
        let carrier = &mut self.carriers[at];
        carrier.listening.suspect(now);
        carrier.late = false;
        if carrier.rate.estimate().is_none() {
            self.links.on_suspected_early(carrier.config.link);
        }
        let id = carrier.id;
        if carrier.pings.outstanding_since().is_none() {
            carrier.pings.ask();
            self.carriers.wake(at);
        }
        self.events.push_back(Event::CarrierSuspected(id));
        self.table.forget_choice_of(id);
        self.give_up(at);
        self.wake_all();
    }

    /// Returns when the oldest frame of a carrier is so late that another carrier also sends it.
    ///
    /// At first a frame counts as late only if it blocks later data. Once a carrier is late, each of its
    /// frames is retransmitted when its own time has passed.
    fn overdue_at(&mut self, at: usize) -> Option<Time> {
        let carrier = &self.carriers[at];
        if carrier.listening.is_suspected() || carrier.in_flight.is_empty() {
            return None;
        }
        let fastest = self.carriers.fastest_but(at)?;
        let carrier = &self.carriers[at];
        if carrier.late {
            return carrier.in_flight.first_here().map(|sent| sent.due);
        }
        let oldest = carrier.in_flight.oldest().filter(|sent| !sent.elsewhere)?;
        if self.judged_by(&oldest.content).is_some() {
            return None;
        }
        let (content, overdue) = (oldest.content, oldest.due + fastest.max(OVERDUE));
        let own = carrier.round_trip.min().unwrap_or(Time::ZERO);
        let deviation = carrier.round_trip.deviation();
        Some(if !self.holds_up(&content) {
            overdue + own / 4 + deviation * 4
        } else if own <= REPAIR && self.can_wait(own, &content) {
            overdue + own
        } else {
            overdue
        })
    }

    /// Whether a stream has other data queued for this time, within its window: more than all carriers
    /// deliver meanwhile. Then the missing data delay only themselves.
    fn can_wait(&mut self, time: Time, content: &Content) -> bool {
        let Content::Data { stream, .. } = content else {
            return false;
        };
        let meanwhile = 2.0 * self.carriers.rates() * time.as_secs_f64();
        let stream = self.streams.get(stream);
        stream.is_some_and(|stream| stream.send.sendable() as f64 > meanwhile)
    }

    /// Whether later bytes of the stream have arrived and are blocked by these.
    pub(super) fn holds_up(&self, content: &Content) -> bool {
        let Content::Data { stream, start, .. } = content else {
            return false;
        };
        let stream = self.streams.get(stream);
        stream.is_some_and(|stream| stream.send.is_held_up_by(*start))
    }

    /// Retransmits the overdue frames of a carrier on others. The carrier gets no new data until its oldest
    /// frame is acknowledged.
    fn overtake(&mut self, now: Time, at: usize) {
        self.carriers[at].late = true;
        self.give_up_if(at, |due| due <= now);
        self.wake_all();
    }

    pub(super) fn give_up(&mut self, at: usize) {
        self.give_up_if(at, |_| true);
    }

    pub(super) fn give_up_one(&mut self, at: usize, content: Content) {
        self.give_up_where(at, |sent| sent.content == content);
    }

    pub(super) fn give_up_if(&mut self, at: usize, is_meant: impl Fn(Time) -> bool) {
        self.give_up_where(at, |sent| is_meant(sent.due));
    }

    pub(super) fn give_up_where(&mut self, at: usize, mut is_meant: impl FnMut(&Sent) -> bool) {
        let mut in_flight = mem::take(&mut self.carriers[at].in_flight);
        let mut bytes = 0;
        for sent in in_flight.iter_mut() {
            if !is_meant(sent) || sent.elsewhere {
                continue;
            }
            sent.elsewhere = true;
            if self.is_redundant() && self.hand_over(at, &sent.content) {
                continue;
            }
            match sent.content {
                Content::Control(control) => self.control.push_again(control),
                Content::Data {
                    stream: number,
                    start,
                    end,
                    fin,
                } => {
                    let Some(stream) = self.streams.get_mut(&number) else {
                        continue;
                    };
                    if stream.send_ended {
                        continue;
                    }
                    let again = stream.send.on_lost(start, end, fin);
                    stream.resent_bytes += again;
                    bytes += again;
                    self.turns.enter(number, stream);
                }
            }
        }
        let carrier = &mut self.carriers[at];
        carrier.in_flight = in_flight;
        carrier.usage.count_resent(bytes);
        self.resent_bytes += bytes;
    }

    /// Makes another carrier with a copy of this content in flight responsible for it, if there is one.
    fn hand_over(&mut self, at: usize, content: &Content) -> bool {
        for other in (0..self.carriers.len()).filter(|other| *other != at) {
            if !self.carriers[other].is_good() {
                continue;
            }
            let mut held = self.carriers[other].in_flight.iter_mut();
            if let Some(copy) = held.find(|sent| sent.content.has(content)) {
                copy.elsewhere = false;
                return true;
            }
        }
        false
    }

    /// Cancels retransmissions of a carrier's data that no other carrier has sent yet.
    pub(super) fn take_back(&mut self, at: usize) {
        for sent in self.carriers[at].in_flight.iter_mut() {
            if let Content::Data {
                stream,
                start,
                end,
                fin,
            } = sent.content
                && sent.elsewhere
                && let Some(stream) = self.streams.get_mut(&stream)
                && stream.send.on_found(start, end, fin)
            {
                sent.elsewhere = false;
            }
        }
    }
}
