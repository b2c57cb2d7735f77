//! Tracks which connections may have changed, so that the others need not be examined.
//!
//! Any action on a connection [touches](Changed::touch) it. In the next pass it is then polled for segments
//! ([`next_to_send`](Changed::next_to_send) removes that mark), its timers are read again
//! ([`read_timers`](Changed::read_timers)), and its events are taken
//! ([`take_event_mark`](Changed::take_event_mark)). A mark means that the connection may have changed; polling
//! shows whether it has.

use std::mem;

use ropewalk_quantities::Time;
use ropewalk_striping::CarrierId;

use super::connection::Connection;
use crate::hosts::verbs::{CLIENT, SERVER};

/// Changes noted for each connection, by index.
#[derive(Debug, Default)]
pub(crate) struct Changed {
    notes: Vec<Notes>,
    is_any_touched: bool,
    /// Connections that are carriers, of client and server.
    carriers: [CarrierIndex; 2],
}

/// Changes noted for a connection. Pairs are of client and server.
#[derive(Clone, Copy, Debug)]
struct Notes {
    /// To be polled in the next pass, and in the present one.
    touched: bool,
    passing: bool,
    /// It may have events.
    eventful: [bool; 2],
    /// It received a segment which the association was not told of.
    heard: [bool; 2],
    /// When its timers expire, or [`Time::MAX`], unless it was touched since they were read.
    timers: [Time; 2],
    untimed: bool,
}

impl Notes {
    /// It may have changed in any way.
    const NEW: Notes = Notes {
        touched: true,
        passing: false,
        eventful: [true; 2],
        heard: [true; 2],
        timers: [Time::MAX; 2],
        untimed: true,
    };

    /// Marks its timers and events as unread.
    fn reread(&mut self) {
        self.untimed = true;
        self.eventful = [true; 2];
    }
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
        self.notes = vec![Notes::NEW; connections.len()];
        self.is_any_touched = true;
        for end in [CLIENT, SERVER] {
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
        self.is_any_touched = true;
        let notes = &mut self.notes[at];
        notes.touched = true;
        notes.reread();
    }

    /// Whether any was touched since the last pass began.
    pub(crate) fn is_any_touched(&self) -> bool {
        self.is_any_touched
    }

    /// Begins a pass: all that were touched are to be polled.
    pub(crate) fn begin_pass(&mut self) {
        if mem::take(&mut self.is_any_touched) {
            for notes in &mut self.notes {
                notes.passing |= mem::take(&mut notes.touched);
            }
        }
    }

    /// The next connection of the pass, in order of index. Its sending may cause events.
    pub(crate) fn next_to_send(&mut self) -> Option<usize> {
        let at = self.notes.iter().position(|notes| notes.passing)?;
        self.notes[at].passing = false;
        self.notes[at].reread();
        Some(at)
    }

    /// A segment arrived at an end.
    pub(crate) fn note_arrival(&mut self, at: usize, end: usize) {
        self.notes[at].heard[end] = true;
    }

    /// The next connection that received a segment which the association was not told of; its mark is
    /// removed.
    pub(crate) fn next_heard(&mut self, end: usize) -> Option<usize> {
        let mut heard = self.notes.iter_mut().map(|notes| &mut notes.heard[end]);
        heard.position(mem::take)
    }

    /// Whether a connection may have events; its mark is removed.
    pub(crate) fn take_event_mark(&mut self, at: usize, end: usize) -> bool {
        mem::take(&mut self.notes[at].eventful[end])
    }

    /// When the first timers of client and server expire, or [`Time::MAX`].
    pub(crate) fn read_timers(&mut self, connections: &[Connection]) -> [Time; 2] {
        let mut first = [Time::MAX; 2];
        for (notes, connection) in self.notes.iter_mut().zip(connections) {
            if mem::take(&mut notes.untimed) {
                let timer = |end| connection.poll_timeout(end).unwrap_or(Time::MAX);
                notes.timers = [CLIENT, SERVER].map(timer);
            }
            let [client, server] = notes.timers;
            first = [first[CLIENT].min(client), first[SERVER].min(server)];
        }
        first
    }

    /// The first from this index on of which a timer may have expired, or which may have events.
    pub(crate) fn next_concerned(&self, now: Time, from: usize, end: usize) -> Option<usize> {
        let mut at = from..self.notes.len();
        at.find(|&at| self.notes[at].eventful[end] || self.may_be_due(now, at, end))
    }

    /// Whether a timer of it may have expired.
    pub(crate) fn may_be_due(&self, now: Time, at: usize, end: usize) -> bool {
        self.notes[at].untimed || self.notes[at].timers[end] <= now
    }
}
