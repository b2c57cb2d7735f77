//! Which connections something happened to, so that nobody looks at all of them.
//!
//! Whoever does anything to a connection [touches](Stirred::touch) it. Then it is asked in the next pass
//! what it sends ([`next_to_send`](Stirred::next_to_send) takes that mark away), its timers are read again
//! ([`read_timers`](Stirred::read_timers)), and so are its events ([`heed`](Stirred::heed)). To be marked
//! means that it may have changed: who is asked in vain says so.

use ropewalk_quantities::Time;
use ropewalk_striping::CarrierId;

use super::connection::Connection;
use super::marks::Marks;
use super::timers::Timers;
use crate::hosts::{CLIENT, SERVER};

/// Marks and timers of connections, by their places; what is there twice is of client and server.
#[derive(Debug, Default)]
pub(crate) struct Stirred {
    /// To be asked in the next pass, and in this one.
    touched: Marks,
    is_any_touched: bool,
    passing: Marks,
    /// May have events.
    eventful: [Marks; 2],
    /// Have had a segment of which the association was not told.
    heard: [Marks; 2],
    /// The association has something for them, or may have, and their sockets take it.
    ready: [Marks; 2],
    /// When a timer runs out, but for those that were touched since they were read.
    timers: [Timers; 2],
    untimed: Marks,
    /// By the carrier's number.
    places: [Vec<usize>; 2],
}

impl Stirred {
    /// There are others, or they stand elsewhere: all are marked.
    pub(crate) fn look_anew(&mut self, connections: &[Connection]) {
        let len = connections.len();
        self.touched = Marks::all_of(len);
        self.is_any_touched = true;
        self.untimed = Marks::all_of(len);
        self.passing = Marks::none_of(len);
        for end in [CLIENT, SERVER] {
            self.eventful[end] = Marks::all_of(len);
            self.heard[end] = Marks::all_of(len);
            self.ready[end] = Marks::none_of(len);
            self.timers[end] = Timers::of(len);
            for (at, connection) in connections.iter().enumerate() {
                self.note_ready(at, end, connection);
                if let Some(id) = connection.carriers[end] {
                    self.note_carrier(at, end, id);
                }
            }
        }
    }

    /// Something is done to a connection.
    pub(crate) fn touch(&mut self, at: usize) {
        self.touched.insert(at);
        self.is_any_touched = true;
        self.untimed.insert(at);
        for eventful in &mut self.eventful {
            eventful.insert(at);
        }
    }

    /// All that were touched are to be asked what they send.
    pub(crate) fn begin_pass(&mut self) {
        if std::mem::take(&mut self.is_any_touched) {
            self.passing.take_all(&mut self.touched);
        }
    }

    /// The next one of the pass, in their order. What it sends may make events.
    pub(crate) fn next_to_send(&mut self) -> Option<usize> {
        let at = self.passing.take_first()?;
        self.untimed.insert(at);
        for eventful in &mut self.eventful {
            eventful.insert(at);
        }
        Some(at)
    }

    /// A segment came to an end.
    pub(crate) fn hear(&mut self, at: usize, end: usize) {
        self.heard[end].insert(at);
    }

    /// The next one that has had one of which the association was not told, and is told now.
    pub(crate) fn next_heard(&mut self, end: usize) -> Option<usize> {
        self.heard[end].take_first()
    }

    /// Whether it may have events, which are then taken.
    pub(crate) fn heed(&mut self, at: usize, end: usize) -> bool {
        self.eventful[end].remove(at)
    }

    pub(crate) fn note_ready(&mut self, at: usize, end: usize, connection: &Connection) {
        let is_ready = connection.awake[end] && !connection.blocked[end];
        self.ready[end].set(at, is_ready);
    }

    /// The first that the association may have something for.
    pub(crate) fn first_ready(&self, end: usize) -> Option<usize> {
        self.ready[end].first()
    }

    pub(crate) fn note_carrier(&mut self, at: usize, end: usize, id: CarrierId) {
        let (places, number) = (&mut self.places[end], id.0 as usize);
        if number >= places.len() {
            places.resize(number + 1, usize::MAX);
        }
        places[number] = at;
    }

    /// Where the connection stands that is, or was last, this carrier.
    pub(crate) fn place_of(&self, end: usize, id: CarrierId) -> Option<usize> {
        self.places[end].get(id.0 as usize).copied()
    }

    /// When the first timer of client and server run out, or [`Time::MAX`].
    pub(crate) fn read_timers(&mut self, connections: &[Connection]) -> [Time; 2] {
        let [client, server] = &mut self.timers;
        while let Some(at) = self.untimed.take_first() {
            let timer = |end| connections[at].poll_timeout(end).unwrap_or(Time::MAX);
            client.set(at, timer(CLIENT));
            server.set(at, timer(SERVER));
        }
        [client.earliest(), server.earliest()]
    }

    /// Whether a timer of it may have run out.
    pub(crate) fn may_be_due(&self, now: Time, at: usize, end: usize) -> bool {
        self.untimed.contains(at) || self.timers[end].at(at) <= now
    }
}
