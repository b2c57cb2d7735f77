//! Failover: data in flight on silent or late carriers are retransmitted on others.

use std::mem;

use ropewalk_quantities::Time;

use super::Association;
use crate::carrier::deadline::{OVERDUE, or_never};
use crate::carrier::in_flight::{Content, Sent};
use crate::carrier_set::CarrierIndex;
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
            .without_carriers_since
            .map_or(Time::MAX, |since| since.saturating_add(self.config.timeout));
        next = next.min(self.adapter.due());
        self.carriers.settle();
        let mut from = 0;
        while let Some(at) = self.carriers.next_due_before(next, from) {
            from = at.0 + 1;
            next = next.min(self.due_before(at, next));
        }
        (next < Time::MAX).then_some(next)
    }

    /// Returns when something is due on a carrier, if that is before `limit`; else a time that is not.
    pub(super) fn due_before(&mut self, at: CarrierIndex, limit: Time) -> Time {
        let carrier = &self.carriers[at];
        let acknowledges_at = carrier
            .acknowledgement
            .due()
            .filter(|_| self.carriers.is_idle(at));
        let due = or_never(acknowledges_at)
            .min(or_never(carrier.suspicious_at()))
            .min(or_never(self.allowed_at(at)))
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
            .without_carriers_since
            .is_some_and(|since| since.saturating_add(self.config.timeout) <= now)
        {
            self.end(NO_CARRIER);
            return;
        }
        if self.adapter.take_due_call(now) {
            self.wake_all();
        }
        self.copy_late_frames(now);
        let after = now.saturating_add(Time::from_nanos(1));
        self.carriers.settle();
        let mut from = 0;
        while let Some(at) = self.carriers.next_due_before(after, from) {
            from = at.0 + 1;
            let is_past = |time: Option<Time>| time.is_some_and(|time| time <= now);
            if is_past(self.carriers[at].acknowledgement.due()) {
                self.carriers.wake(at);
            }
            if is_past(self.room_at(at)) || is_past(self.allowed_at(at)) {
                self.carriers.wake(at);
            }
            if is_past(self.carriers[at].suspicious_at()) {
                self.suspect(now, at);
            } else if is_past(self.overdue_at(at)) {
                self.retransmit_overdue(now, at);
            }
            if is_past(self.probe_at(at)) {
                self.carriers[at].pings.request();
                self.carriers[at].delivered_since_ping = false;
                self.carriers.wake(at);
            }
            self.carriers.settle();
        }
    }

    /// Returns when a full carrier has room again without an acknowledgement.
    fn room_at(&self, at: CarrierIndex) -> Option<Time> {
        let carrier = &self.carriers[at];
        if !self.carriers.is_idle(at) || self.drr.len() == 0 || !self.may_send(at) {
            return None;
        }
        let room = carrier.room_at(self.carriers.in_flight_cap(at));
        room.filter(|room| *room > self.carriers.polled_at(at))
    }

    /// Returns when the throttle of a carrier that had nothing to send next lets it send.
    fn allowed_at(&self, at: CarrierIndex) -> Option<Time> {
        let opens = self.carriers[at].usage.allowed_at()?;
        if !self.carriers.is_idle(at) || self.drr.len() == 0 || !self.may_send(at) {
            return None;
        }
        Some(opens).filter(|opens| *opens > self.carriers.polled_at(at))
    }

    pub(super) fn end(&mut self, code: u32) {
        for id in self.streams.keys() {
            let stream = *id;
            self.events.push_back(Event::StreamReset { stream, code });
        }
        self.streams.clear();
        self.streams_cost = 0;
        self.closed = Some(code);
        self.events.push_back(Event::Closed { code });
    }

    fn probe_at(&self, at: CarrierIndex) -> Option<Time> {
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

    fn suspect(&mut self, now: Time, at: CarrierIndex) {
        let carrier = &mut self.carriers[at];
        carrier.liveness.suspect(now);
        carrier.late = false;
        if carrier.rate.estimate().is_none() {
            self.links.on_suspected_early(carrier.config.link);
        }
        let id = carrier.id;
        if carrier.pings.outstanding_since().is_none() {
            carrier.pings.request();
            self.carriers.wake(at);
        }
        self.events.push_back(Event::CarrierSuspected(id));
        self.adapter.clear_choice_of(id);
        self.requeue_all(at);
        self.wake_all();
    }

    /// Returns when the oldest frame of a carrier is so late that another carrier also sends it.
    ///
    /// At first a frame counts as late only if it blocks later data. Once a carrier is late, each of its
    /// frames is retransmitted when its own time has passed.
    fn overdue_at(&mut self, at: CarrierIndex) -> Option<Time> {
        let carrier = &self.carriers[at];
        if carrier.liveness.is_suspected() || carrier.in_flight.is_empty() {
            return None;
        }
        let fastest = self.carriers.fastest_but(at)?;
        let carrier = &self.carriers[at];
        if carrier.late {
            return carrier.in_flight.first_responsible().map(|sent| sent.due);
        }
        let oldest = carrier.in_flight.oldest().filter(|sent| !sent.elsewhere)?;
        if self.deadline_of_content(&oldest.content).is_some() {
            return None;
        }
        let (content, overdue) = (oldest.content, oldest.due + fastest.max(OVERDUE));
        let own = carrier.round_trip.min().unwrap_or(Time::ZERO);
        let deviation = carrier.round_trip.deviation();
        Some(if !self.blocks_later_data(&content) {
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

    pub(super) fn blocks_later_data(&self, content: &Content) -> bool {
        let Content::Data { stream, start, .. } = content else {
            return false;
        };
        let stream = self.streams.get(stream);
        stream.is_some_and(|stream| stream.send.is_blocked_by(*start))
    }

    /// Retransmits the overdue frames of a carrier on others. The carrier gets no new data until its oldest
    /// frame is acknowledged.
    fn retransmit_overdue(&mut self, now: Time, at: CarrierIndex) {
        self.carriers[at].late = true;
        self.requeue_if_due(at, |due| due <= now);
        self.wake_all();
    }

    pub(super) fn requeue_all(&mut self, at: CarrierIndex) {
        self.requeue_if_due(at, |_| true);
    }

    pub(super) fn requeue_if_due(&mut self, at: CarrierIndex, is_selected: impl Fn(Time) -> bool) {
        self.requeue_where(at, |sent| is_selected(sent.due));
    }

    pub(super) fn requeue_where(
        &mut self,
        at: CarrierIndex,
        mut is_selected: impl FnMut(&Sent) -> bool,
    ) {
        let mut in_flight = mem::take(&mut self.carriers[at].in_flight);
        let mut bytes = 0;
        for sent in in_flight.iter_mut() {
            if !is_selected(sent) || sent.elsewhere {
                continue;
            }
            sent.elsewhere = true;
            if self.is_redundant() && self.delegate_to_copy(at, &sent.content) {
                continue;
            }
            match sent.content {
                Content::Control(control) => self.control.push_again(control),
                Content::Data {
                    stream: id,
                    start,
                    end,
                    fin,
                } => {
                    let Some(stream) = self.streams.get_mut(&id) else {
                        continue;
                    };
                    if stream.send_ended {
                        continue;
                    }
                    let again = stream.send.on_lost(start, end, fin);
                    stream.resent_bytes += again;
                    bytes += again;
                    self.drr.enter(id, stream);
                }
            }
        }
        let carrier = &mut self.carriers[at];
        carrier.in_flight = in_flight;
        carrier.usage.resent += bytes;
        self.resent_bytes += bytes;
    }

    /// Makes another carrier with a copy of this content in flight responsible for it, if there is one.
    fn delegate_to_copy(&mut self, at: CarrierIndex, content: &Content) -> bool {
        for other in self.carriers.indices().filter(|other| *other != at) {
            if !self.carriers[other].is_good() {
                continue;
            }
            let mut held = self.carriers[other].in_flight.iter_mut();
            if let Some(copy) = held.find(|sent| sent.content.contains(content)) {
                copy.elsewhere = false;
                return true;
            }
        }
        false
    }

    /// Cancels retransmissions of a carrier's data that no other carrier has sent yet.
    pub(super) fn cancel_requeue(&mut self, at: CarrierIndex) {
        for sent in self.carriers[at].in_flight.iter_mut() {
            if let Content::Data {
                stream,
                start,
                end,
                fin,
            } = sent.content
                && sent.elsewhere
                && let Some(stream) = self.streams.get_mut(&stream)
                && stream.send.cancel_lost(start, end, fin)
            {
                sent.elsewhere = false;
            }
        }
    }
}
