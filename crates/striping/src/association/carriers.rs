//! Carriers that come up, go down, and block.

use ropewalk_quantities::Time;

use super::Association;
use crate::carrier::{Carrier, Heard};
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
        self.alone_since = None;
        self.table.forget_choice();
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
        self.give_up(at);
        let carrier = self.carriers.remove(at);
        if let Some(found) = carrier.link() {
            self.links.remember(carrier.config.link, found);
        }
        self.copies.remove(id);
        self.table.forget_choice();
        if self.carriers.is_empty() {
            self.alone_since = Some(now);
        }
        self.wake_all();
    }

    /// Changes the terms of a carrier and announces them to the peer. Only the initiator may do this.
    pub fn set_terms(&mut self, id: CarrierId, terms: Terms) {
        if let Some(at) = self.position(id).filter(|_| self.role == Role::Initiator) {
            self.carriers[at].terms_due = true;
            self.use_on(at, terms);
        }
    }

    /// Reassigns the data of a carrier whose quota is used up, and wakes the others.
    pub(super) fn on_quota_gone(&mut self) {
        self.table.forget_choice();
        self.wake_all();
    }

    pub(super) fn use_on(&mut self, at: usize, terms: Terms) {
        self.due = None;
        self.carriers[at].set_terms(terms);
        self.table.forget_choice();
        self.wake_all();
    }

    /// Stops polling a carrier whose socket would block until it is [`writable`](Association::writable).
    pub fn blocked(&mut self, id: CarrierId) {
        if let Some(at) = self.position(id) {
            self.due = None;
            self.carriers.block(at);
            self.table.forget_choice_of(id);
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
    pub fn heard(&mut self, id: CarrierId, at: Time) {
        if let Some(position) = self.position(id) {
            self.hear(position, at);
        }
    }

    pub(super) fn hear(&mut self, position: usize, at: Time) {
        let listening = &self.carriers[position].listening;
        if at <= listening.heard_at() {
            return;
        }
        self.due = None;
        if !listening.is_suspected() {
            self.carriers.note_heard(position, at);
            return;
        }
        match self.carriers[position].on_heard(at) {
            Heard::Unchanged => {}
            Heard::Resumed => {
                self.take_back(position);
                self.trust(position);
            }
            Heard::ResumedAfterTimeout => self.trust(position),
        }
    }

    fn trust(&mut self, position: usize) {
        let trusted = Event::CarrierTrusted(self.carriers[position].id);
        self.events.push_back(trusted);
        self.carriers.wake(position);
        self.wake_all();
    }
}
