//! Carriers that come up, go down, and block.

use ropewalk_quantities::Time;

use super::Association;
use crate::carrier::{Carrier, SuspicionChange};
use crate::carrier_set::CarrierIndex;
use crate::{CarrierConfig, CarrierId, Event, Payload, Role, Terms};

impl<P: Payload> Association<P> {
    /// Adds a carrier whose connection has been established.
    pub fn carrier_up(&mut self, now: Time, config: CarrierConfig) -> CarrierId {
        self.due = None;
        let id = CarrierId(self.next_carrier);
        self.next_carrier += 1;
        let first_timeout = self.links.first_timeout(config.link);
        let before = self.links.history(config.link);
        let mut others = self.carriers.iter();
        let replaced = others.find(|carrier| carrier.config.link == config.link);
        let expected = replaced.map_or(before, Carrier::link);
        let payload = self.config.payload;
        let mut carrier = Carrier::new(now, id, config, first_timeout, expected, payload);
        carrier.terms_due = self.role == Role::Initiator && config.terms.rate.is_some();
        self.carriers.push(carrier);
        self.without_carriers_since = None;
        self.adapter.clear_choice();
        self.wake_all();
        id
    }

    /// Removes a carrier whose connection was closed, reset, or replaced. Its data in flight are
    /// retransmitted on other carriers.
    pub fn carrier_down(&mut self, now: Time, id: CarrierId) {
        let Some(at) = self.position(id) else {
            return;
        };
        self.due = None;
        self.requeue_all(at);
        let carrier = self.carriers.remove(at);
        if let Some(found) = carrier.link() {
            self.links.remember(carrier.config.link, found);
        }
        self.copies.remove(id);
        self.adapter.clear_choice();
        if self.carriers.is_empty() {
            self.without_carriers_since = Some(now);
        }
        self.wake_all();
    }

    /// Changes the terms of a carrier and announces them to the peer. Only the initiator may do this.
    pub fn set_terms(&mut self, id: CarrierId, terms: Terms) {
        if let Some(at) = self.position(id).filter(|_| self.role == Role::Initiator) {
            self.carriers[at].terms_due = true;
            self.apply_terms(at, terms);
        }
    }

    pub(super) fn on_quota_gone(&mut self) {
        self.adapter.clear_choice();
        self.wake_all();
    }

    pub(super) fn apply_terms(&mut self, at: CarrierIndex, terms: Terms) {
        self.due = None;
        self.carriers[at].set_terms(terms);
        self.adapter.clear_choice();
        self.wake_all();
    }

    /// Stops polling a carrier whose socket would block until it is [`writable`](Association::writable).
    pub fn blocked(&mut self, id: CarrierId) {
        if let Some(at) = self.position(id) {
            self.due = None;
            self.carriers.block(at);
            self.adapter.clear_choice_of(id);
            // Another carrier may now send the data that were left to this one.
            self.wake_all();
        }
    }

    /// Resumes polling of a carrier whose socket takes data again.
    pub fn writable(&mut self, id: CarrierId) {
        if let Some(at) = self.position(id) {
            self.due = None;
            self.carriers.unblock(at);
        }
    }

    /// Notes when the peer's TCP last acknowledged anything on this carrier (on Linux from `TCP_INFO`: now
    /// less `tcpi_last_ack_recv`). It proves that the peer is alive while acknowledgements of frames are
    /// queued behind a lost segment. Call it before [`handle_timeout`](Association::handle_timeout).
    pub fn heard(&mut self, id: CarrierId, time: Time) {
        if let Some(at) = self.position(id) {
            self.on_heard(at, time);
        }
    }

    pub(super) fn on_heard(&mut self, at: CarrierIndex, time: Time) {
        let liveness = &self.carriers[at].liveness;
        if time <= liveness.heard_at {
            return;
        }
        self.due = None;
        if !liveness.is_suspected() {
            self.carriers.note_heard(at, time);
            return;
        }
        match self.carriers[at].on_heard(time) {
            SuspicionChange::Unchanged => {}
            SuspicionChange::Resumed => {
                self.cancel_requeue(at);
                self.clear_suspicion(at);
            }
            SuspicionChange::ResumedAfterTimeout => self.clear_suspicion(at),
        }
    }

    fn clear_suspicion(&mut self, at: CarrierIndex) {
        let trusted = Event::CarrierTrusted(self.carriers[at].id);
        self.events.push_back(trusted);
        self.carriers.wake(at);
        self.wake_all();
    }
}
