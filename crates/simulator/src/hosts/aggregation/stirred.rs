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
    /// Those that are carriers.
    carriers: [Carriers; 2],
    /// When a timer runs out, but for those that were touched since they were read.
    timers: [Timers; 2],
    untimed: Marks,
}

/// An end's carriers, with the places of their connections.
#[derive(Debug, Default)]
struct Carriers {
    ids: Vec<CarrierId>,
    places: Vec<usize>,
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
            self.timers[end] = Timers::of(len);
            self.list_carriers(connections, end);
        }
    }

    /// Others of them are carriers than were before.
    pub(crate) fn list_carriers(&mut self, connections: &[Connection], end: usize) {
        let Carriers { ids, places } = &mut self.carriers[end];
        ids.clear();
        places.clear();
        for (at, connection) in connections.iter().enumerate() {
            if let Some(id) = connection.carriers[end] {
                ids.push(id);
                places.push(at);
            }
        }
    }

    /// The carriers of an end, in the connections' order.
    pub(crate) fn carriers(&self, end: usize) -> &[CarrierId] {
        &self.carriers[end].ids
    }

    /// Where the connection stands that is one of them.
    pub(crate) fn place(&self, end: usize, of: usize) -> usize {
        self.carriers[end].places[of]
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

    /// Whether a timer of it may have run out, or it may have events.
    pub(crate) fn is_concerned(&self, now: Time, at: usize, end: usize) -> bool {
        self.eventful[end].contains(at) || self.may_be_due(now, at, end)
    }

    /// Whether a timer of it may have run out.
    pub(crate) fn may_be_due(&self, now: Time, at: usize, end: usize) -> bool {
        self.untimed.contains(at) || self.timers[end].at(at) <= now
    }
}
