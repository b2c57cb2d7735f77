//! Tracks which connections may have changed, so that the others need not be examined.
//!
//! Any action on a connection [touches](Changed::touch) it. In the next pass it is then polled for segments
//! ([`next_to_send`](Changed::next_to_send) removes that mark), its timers are read again
//! ([`read_timers`](Changed::read_timers)), and its events are taken
//! ([`take_event_mark`](Changed::take_event_mark)). A mark means that the connection may have changed; polling
//! shows whether it has.

use ropewalk_quantities::Time;
use ropewalk_striping::CarrierId;

use super::connection::Connection;
use super::marks::Marks;
use super::timers::Timers;
use crate::hosts::verbs::{CLIENT, SERVER};

/// Marks and timers of connections, by index; pairs are of client and server.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    /// To be polled in the next pass, and in the present one.
    touched: Marks,
    is_any_touched: bool,
    passing: Marks,
    /// Those that may have events.
    eventful: [Marks; 2],
    /// Those that received a segment which the association was not told of.
    heard: [Marks; 2],
    /// Those that are carriers.
    carriers: [CarrierIndex; 2],
    /// When timers expire, except for connections touched since their timers were read.
    timers: [Timers; 2],
    untimed: Marks,
}

/// The carriers of an end, with the indices of their connections.
#[derive(Debug, Default)]
struct CarrierIndex {
    ids: Vec<CarrierId>,
    indices: Vec<usize>,
}

impl Changed {
    /// Connections were added, removed or moved: marks all.
    pub(crate) fn mark_all(&mut self, connections: &[Connection]) {
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

    /// Updates which connections are carriers.
    pub(crate) fn list_carriers(&mut self, connections: &[Connection], end: usize) {
        let CarrierIndex { ids, indices } = &mut self.carriers[end];
        ids.clear();
        indices.clear();
        for (at, connection) in connections.iter().enumerate() {
            if let Some(id) = connection.carriers[end] {
                ids.push(id);
                indices.push(at);
            }
        }
    }

    /// The carriers of an end, in the connections' order.
    pub(crate) fn carriers(&self, end: usize) -> &[CarrierId] {
        &self.carriers[end].ids
    }

    /// Index of the connection of a carrier.
    pub(crate) fn connection_of(&self, end: usize, of: usize) -> usize {
        self.carriers[end].indices[of]
    }

    /// A connection may have changed.
    pub(crate) fn touch(&mut self, at: usize) {
        self.touched.insert(at);
        self.is_any_touched = true;
        self.untimed.insert(at);
        for eventful in &mut self.eventful {
            eventful.insert(at);
        }
    }

    /// Whether any was touched since the last pass began.
    pub(crate) fn is_any_touched(&self) -> bool {
        self.is_any_touched
    }

    /// Begins a pass: all that were touched are to be polled.
    pub(crate) fn begin_pass(&mut self) {
        if std::mem::take(&mut self.is_any_touched) {
            self.passing.take_all(&mut self.touched);
        }
    }

    /// The next connection of the pass, in order of index. Its sending may cause events.
    pub(crate) fn next_to_send(&mut self) -> Option<usize> {
        let at = self.passing.take_first()?;
        self.untimed.insert(at);
        for eventful in &mut self.eventful {
            eventful.insert(at);
        }
        Some(at)
    }

    /// A segment arrived at an end.
    pub(crate) fn note_arrival(&mut self, at: usize, end: usize) {
        self.heard[end].insert(at);
    }

    /// The next connection that received a segment which the association was not told of; its mark is
    /// removed.
    pub(crate) fn next_heard(&mut self, end: usize) -> Option<usize> {
        self.heard[end].take_first()
    }

    /// Whether a connection may have events; its mark is removed.
    pub(crate) fn take_event_mark(&mut self, at: usize, end: usize) -> bool {
        self.eventful[end].remove(at)
    }

    /// When the first timers of client and server expire, or [`Time::MAX`].
    pub(crate) fn read_timers(&mut self, connections: &[Connection]) -> [Time; 2] {
        let [client, server] = &mut self.timers;
        while let Some(at) = self.untimed.take_first() {
            let timer = |end| connections[at].poll_timeout(end).unwrap_or(Time::MAX);
            client.set(at, timer(CLIENT));
            server.set(at, timer(SERVER));
        }
        [client.earliest(), server.earliest()]
    }

    /// The first from this index on of which a timer may have expired, or which may have events.
    pub(crate) fn next_concerned(&mut self, now: Time, from: usize, end: usize) -> Option<usize> {
        let marked = self.eventful[end].next_in_either(&self.untimed, from);
        match self.timers[end].earliest() <= now {
            false => marked,
            true => self.timers[end].next_due(now, from, marked),
        }
    }

    /// Whether a timer of it may have expired.
    pub(crate) fn may_be_due(&self, now: Time, at: usize, end: usize) -> bool {
        self.untimed.contains(at) || self.timers[end].at(at) <= now
    }
}
