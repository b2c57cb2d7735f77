//! Which connections something happened to, so that nobody looks at all of them.
//!
//! Whoever does anything to a connection [touches](Stirred::touch) it. Then it is asked in the next pass
//! what it sends ([`next_to_send`](Stirred::next_to_send) takes that mark away), its timers are read again
//! ([`read_timers`](Stirred::read_timers)), and so are its events ([`heed`](Stirred::heed)). To be marked
//! means that it may have changed: who is asked in vain says so.

use fixedbitset::FixedBitSet;
use ropewalk_quantities::Time;
use ropewalk_striping::CarrierId;

use super::connection::Connection;
use crate::hosts::{CLIENT, SERVER};

/// Marks and timers of connections, by their places; what is there twice is of client and server.
#[derive(Debug, Default)]
pub(crate) struct Stirred {
    /// To be asked in the next pass, and in this one.
    touched: FixedBitSet,
    is_any_touched: bool,
    passing: FixedBitSet,
    /// May have events.
    eventful: [FixedBitSet; 2],
    /// Have had a segment of which the association was not told.
    heard: [FixedBitSet; 2],
    /// The association has something for them, or may have, and their sockets take it.
    ready: [FixedBitSet; 2],
    /// When a timer runs out, but for those that were touched since they were read.
    timers: [Vec<Time>; 2],
    untimed: FixedBitSet,
    earliest: [Option<Time>; 2],
    /// By the carrier's number.
    places: [Vec<usize>; 2],
}

impl Stirred {
    /// There are others, or they stand elsewhere: all are marked.
    pub(crate) fn look_anew(&mut self, connections: &[Connection]) {
        let len = connections.len();
        let all = || {
            let mut all = FixedBitSet::with_capacity(len);
            all.insert_range(..);
            all
        };
        self.touched = all();
        self.is_any_touched = true;
        self.untimed = all();
        self.passing = FixedBitSet::with_capacity(len);
        for end in [CLIENT, SERVER] {
            self.eventful[end] = all();
            self.heard[end] = all();
            self.ready[end] = FixedBitSet::with_capacity(len);
            self.timers[end].resize(len, Time::MAX);
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
            self.passing.union_with(&self.touched);
            self.touched.clear();
        }
    }

    /// The next one of the pass, in their order. What it sends may make events.
    pub(crate) fn next_to_send(&mut self) -> Option<usize> {
        let at = self.passing.minimum()?;
        self.passing.remove(at);
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
        let at = self.heard[end].minimum()?;
        self.heard[end].remove(at);
        Some(at)
    }

    /// Whether it may have events, which are then taken.
    pub(crate) fn heed(&mut self, at: usize, end: usize) -> bool {
        let eventful = self.eventful[end].contains(at);
        self.eventful[end].remove(at);
        eventful
    }

    pub(crate) fn note_ready(&mut self, at: usize, end: usize, connection: &Connection) {
        let is_ready = connection.awake[end] && !connection.blocked[end];
        self.ready[end].set(at, is_ready);
    }

    /// The first that the association may have something for.
    pub(crate) fn first_ready(&self, end: usize) -> Option<usize> {
        self.ready[end].minimum()
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

    /// When the first timer of an end runs out.
    pub(crate) fn read_timers(&mut self, end: usize, connections: &[Connection]) -> Option<Time> {
        if !self.untimed.is_clear() {
            for at in self.untimed.ones() {
                for end in [CLIENT, SERVER] {
                    let timer = connections[at].poll_timeout(end);
                    self.timers[end][at] = timer.unwrap_or(Time::MAX);
                }
            }
            self.untimed.clear();
            self.earliest = [CLIENT, SERVER].map(|end| {
                let earliest = self.timers[end].iter().min().copied();
                earliest.filter(|at| *at < Time::MAX)
            });
        }
        self.earliest[end]
    }

    /// Whether a timer of it may have run out.
    pub(crate) fn may_be_due(&self, now: Time, at: usize, end: usize) -> bool {
        self.untimed.contains(at) || self.timers[end][at] <= now
    }
}
