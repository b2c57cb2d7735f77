//! Carriers come, go, and say whether they take more.

use ropewalk_quantities::Time;

use super::Association;
use crate::carrier::{Carrier, Heard};
use crate::{CarrierConfig, CarrierId, Event, Payload, Role, Terms};

/// Until anything is known of a carrier, it is given this long to answer (RFC 6298, section 2.1);
/// twice as long if the last one of its link was not given enough.
const FIRST_PATIENCE: Time = Time::from_secs(1);
const MOST_DOUBLED: u32 = 5;

impl<P: Payload> Association<P> {
    /// A connection is there that may carry frames.
    pub fn carrier_up(&mut self, now: Time, config: CarrierConfig) -> CarrierId {
        self.due = None;
        let id = CarrierId(self.next_carrier);
        self.next_carrier += 1;
        let doubled = self.impatience.get(&config.link).copied().unwrap_or(0);
        let patience = FIRST_PATIENCE * (1 << doubled.min(MOST_DOUBLED));
        let before = self.links.get(&config.link).copied();
        let mut others = self.carriers.iter();
        let replaced = others.find(|carrier| carrier.config.link == config.link);
        let expected = replaced.map_or(before, Carrier::link);
        let payload = self.config.payload;
        let mut carrier = Carrier::new(now, id, config, patience, expected, payload);
        // The other terms come with the carrier.
        carrier.terms_due = self.role == Role::Initiator && config.terms.rate.is_some();
        self.carriers.push(carrier);
        self.alone_since = None;
        self.chosen = None;
        self.wake_all();
        id
    }

    /// A connection is no more: closed, reset, or replaced by another. What it held goes out over
    /// the others.
    pub fn carrier_down(&mut self, now: Time, id: CarrierId) {
        let Some(at) = self.position(id) else {
            return;
        };
        self.due = None;
        self.give_up(at);
        let carrier = self.carriers.remove(at);
        if let Some(found) = carrier.link() {
            self.links.insert(carrier.config.link, found);
        }
        self.copies.retain(|(carrier, _)| *carrier != id);
        self.chosen = None;
        if self.carriers.is_empty() {
            self.alone_since = Some(now);
        }
        self.wake_all();
    }

    /// A carrier is used on other terms from now on, and the other end is told. Only the initiator sets
    /// them.
    pub fn set_terms(&mut self, id: CarrierId, terms: Terms) {
        if let Some(at) = self.position(id).filter(|_| self.role == Role::Initiator) {
            self.carriers[at].terms_due = true;
            self.use_on(at, terms);
        }
    }

    /// A carrier has carried what it may: what it was chosen for is another's, and others may send now.
    pub(super) fn on_quota_gone(&mut self) {
        self.chosen = None;
        self.wake_all();
    }

    /// A carrier is used on other terms from now on, which may be for another to say.
    pub(super) fn use_on(&mut self, at: usize, terms: Terms) {
        self.due = None;
        self.carriers[at].set_terms(terms);
        self.chosen = None;
        self.wake_all();
    }

    /// The carrier's socket would block: it is not asked for frames until it is
    /// [`writable`](Association::writable).
    pub fn blocked(&mut self, id: CarrierId) {
        if let Some(at) = self.position(id) {
            self.due = None;
            self.carriers.block(at);
            if self.chosen.is_some_and(|(chosen, _)| chosen == id) {
                self.chosen = None;
            }
            // What only this one could have taken may be another's now.
            self.wake_all();
        }
    }

    /// The carrier's socket takes more: it is to be asked.
    pub fn writable(&mut self, id: CarrierId) {
        if let Some(at) = self.position(id) {
            self.due = None;
            self.carriers.unblock(at);
        }
    }

    /// The last time that the other end's TCP acknowledged anything on this carrier (Linux:
    /// `TCP_INFO`, now less `tcpi_last_ack_recv`): a sign of life when frames' acknowledgements wait
    /// behind a lost segment. To be told before [`handle_timeout`](Association::handle_timeout).
    pub fn heard(&mut self, id: CarrierId, at: Time) {
        if let Some(position) = self.position(id) {
            self.hear(position, at);
        }
    }

    /// A sign of life of a carrier.
    pub(super) fn hear(&mut self, position: usize, at: Time) {
        if at <= self.carriers[position].listening.heard_at() {
            return;
        }
        self.due = None;
        match self.carriers[position].on_heard(at) {
            Heard::AsEver => {}
            // What it holds that nobody has sent again is left to it.
            Heard::Late => {
                self.take_back(position);
                self.trust(position);
            }
            Heard::AfterTimeout => self.trust(position),
        }
    }

    /// A suspected carrier lives.
    fn trust(&mut self, position: usize) {
        let trusted = Event::CarrierTrusted(self.carriers[position].id);
        self.events.push_back(trusted);
        self.carriers.wake(position);
        self.wake_all();
    }
}
