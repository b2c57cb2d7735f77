//! Dirty tracking of connections, so that unchanged ones are not examined.
//!
//! Any action on a connection [touches](DirtyTracker::touch) it. The next pass polls it for segments
//! ([`next_to_send`](DirtyTracker::next_to_send) removes that mark), reads its timers
//! ([`read_timers`](DirtyTracker::read_timers)), and takes its events
//! ([`take_event_mark`](DirtyTracker::take_event_mark)). A mark means that the connection may have changed.

use std::mem;

use ropewalk_quantities::Time;
use ropewalk_striping::CarrierId;

use super::connection::CarrierConnection;
use crate::hosts::sending_host::{CLIENT, SERVER};

#[derive(Debug, Default)]
pub(crate) struct DirtyTracker {
    notes: Vec<DirtyFlags>,
    pub(crate) is_any_touched: bool,
    carriers: [CarrierIndex; 2],
}

/// Changes of a connection. Pairs are of client and server.
#[derive(Clone, Copy, Debug)]
struct DirtyFlags {
    /// To poll in the next pass, and in the current one.
    touched: bool,
    passing: bool,
    eventful: [bool; 2],
    /// Whether it received a segment that the association has not been notified of.
    heard: [bool; 2],
    /// Expiry of its timers, or [`Time::MAX`], unless it was touched since they were read.
    timers: [Time; 2],
    untimed: bool,
}

impl DirtyFlags {
    /// Marks of a connection that may have changed in any way.
    const NEW: DirtyFlags = DirtyFlags {
        touched: true,
        passing: false,
        eventful: [true; 2],
        heard: [true; 2],
        timers: [Time::MAX; 2],
        untimed: true,
    };

    fn reread(&mut self) {
        self.untimed = true;
        self.eventful = [true; 2];
    }
}

/// Carriers of an end, with the indices of their connections.
#[derive(Debug, Default)]
struct CarrierIndex {
    ids: Vec<CarrierId>,
    indices: Vec<usize>,
}

impl DirtyTracker {
    /// Marks all, since connections were added, removed or moved.
    pub(crate) fn mark_all(&mut self, connections: &[CarrierConnection]) {
        self.notes = vec![DirtyFlags::NEW; connections.len()];
        self.is_any_touched = true;
        for end in [CLIENT, SERVER] {
            self.list_carriers(connections, end);
        }
    }

    /// Updates which connections are carriers.
    pub(crate) fn list_carriers(&mut self, connections: &[CarrierConnection], end: usize) {
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

    /// Returns the carriers of an end, in the order of connections.
    pub(crate) fn carriers(&self, end: usize) -> &[CarrierId] {
        &self.carriers[end].ids
    }

    pub(crate) fn connection_of(&self, end: usize, of: usize) -> usize {
        self.carriers[end].indices[of]
    }

    pub(crate) fn touch(&mut self, at: usize) {
        self.is_any_touched = true;
        let notes = &mut self.notes[at];
        notes.touched = true;
        notes.reread();
    }

    /// Begins a pass, which polls all touched connections.
    pub(crate) fn begin_pass(&mut self) {
        if mem::take(&mut self.is_any_touched) {
            for notes in &mut self.notes {
                notes.passing |= mem::take(&mut notes.touched);
            }
        }
    }

    /// Returns the next connection of the pass, in order of index. Its sending may cause events.
    pub(crate) fn next_to_send(&mut self) -> Option<usize> {
        let at = self.notes.iter().position(|notes| notes.passing)?;
        self.notes[at].passing = false;
        self.notes[at].reread();
        Some(at)
    }

    pub(crate) fn note_arrival(&mut self, at: usize, end: usize) {
        self.notes[at].heard[end] = true;
    }

    /// Returns the next connection with a received segment that the association has not been notified of,
    /// and removes its mark.
    pub(crate) fn next_unreported(&mut self, end: usize) -> Option<usize> {
        let mut heard = self.notes.iter_mut().map(|notes| &mut notes.heard[end]);
        heard.position(mem::take)
    }

    /// Returns whether a connection may have events, and removes its mark.
    pub(crate) fn take_event_mark(&mut self, at: usize, end: usize) -> bool {
        mem::take(&mut self.notes[at].eventful[end])
    }

    /// Returns the first expiry of the timers of client and server, or [`Time::MAX`].
    pub(crate) fn read_timers(&mut self, connections: &[CarrierConnection]) -> [Time; 2] {
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

    /// Returns the first connection from this index on with an expired timer or events, possibly.
    pub(crate) fn next_concerned(&self, now: Time, from: usize, end: usize) -> Option<usize> {
        let mut at = from..self.notes.len();
        at.find(|&at| self.notes[at].eventful[end] || self.may_be_due(now, at, end))
    }

    pub(crate) fn may_be_due(&self, now: Time, at: usize, end: usize) -> bool {
        self.notes[at].untimed || self.notes[at].timers[end] <= now
    }
}
