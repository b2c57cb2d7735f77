//! Dialling of the paths of an association, and replacement of their connections.
//!
//! As in the gateway, [`Dialling`] decides when to dial and how long a dial may take. A path without a
//! carrier, or with a suspected one, is dialled until a connection is established, which replaces the
//! previous one.

use rand_core::Rng;
use ropewalk_quantities::Time;
use ropewalk_striping::{CarrierId, Dialling};
use ropewalk_transport::Counters;

use super::Aggregation;
use super::connection::CarrierConnection;
use crate::hosts::sending_host::{CLIENT, SERVER};

#[derive(Clone, Debug, Default)]
pub(crate) struct PathState {
    /// `None` while it has a carrier that is not suspected.
    pub(crate) dialling: Option<Dialling>,
    dials: u16,
    pub(crate) delivered: u64,
    pub(crate) past: RemovedCounters,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RemovedCounters {
    pub(crate) counters: Counters,
    pub(crate) duplicates: u64,
    pub(crate) resent: u64,
}

impl Aggregation {
    /// Adds a connection to a path, abandoned at `until` if it is not open by then.
    pub(crate) fn dial(&mut self, path: usize, until: Time) {
        let random = &mut self.random;
        let state = &mut self.paths[path];
        let key = || random.next_u64();
        let connection = CarrierConnection::dial(until, path, state.dials, &self.config, key);
        state.dials = state.dials.wrapping_add(1);
        self.connections.push(connection);
        self.dirty.mark_all(&self.connections);
    }

    /// Dials the first connection of each path, which exists already.
    pub(crate) fn begin_dialling(&mut self, now: Time) {
        for connection in &mut self.connections {
            let mut dialling = Dialling::begin(now, self.config.rto.initial);
            if let Some(dial) = dialling.poll_dial(now, 0) {
                connection.dialled_until = now + dial.connects_within;
            }
            self.paths[connection.path].dialling = Some(dialling);
        }
        self.is_dialling = true;
        self.dirty.mark_all(&self.connections);
    }

    pub(crate) fn dial_due_paths(&mut self, now: Time) {
        for path in 0..self.paths.len() {
            let Some(dialling) = &mut self.paths[path].dialling else {
                continue;
            };
            let connections = self.connections.iter();
            let under_way = connections.filter(|of| of.path == path && of.is_dialled());
            if let Some(dial) = dialling.poll_dial(now, under_way.count()) {
                self.dial(path, now + dial.connects_within);
            }
        }
    }

    pub(crate) fn on_suspected(&mut self, now: Time, id: CarrierId) {
        let at = self.of_carrier(CLIENT, id);
        let path = at.map(|at| self.connections[at].path);
        if let Some(path) = path.filter(|_| !self.closing)
            && self.paths[path].dialling.is_none()
        {
            self.redial(now, path);
        }
    }

    pub(crate) fn on_trusted(&mut self, now: Time, id: CarrierId) {
        let at = self.of_carrier(CLIENT, id);
        let path = at.map(|at| self.connections[at].path);
        let stays = |dialling: &Dialling| dialling.ends_when_heard(now);
        if let Some(path) = path
            && self.paths[path].dialling.as_ref().is_some_and(stays)
        {
            self.stop_dialling(path);
        }
    }

    fn redial(&mut self, now: Time, path: usize) {
        self.paths[path].dialling = Some(Dialling::begin(now, self.config.rto.initial));
        self.is_dialling = true;
    }

    fn stop_dialling(&mut self, path: usize) {
        self.paths[path].dialling = None;
        self.is_dialling = self.paths.iter().any(|path| path.dialling.is_some());
        for (at, connection) in self.connections.iter_mut().enumerate() {
            if connection.path == path && connection.is_dialled() {
                connection.abort(CLIENT);
                self.dirty.touch(at);
            }
        }
    }

    /// Replaces the previous connection of the path after a successful dial at the client.
    pub(crate) fn on_dialled(&mut self, now: Time, at: usize) {
        let path = self.connections[at].path;
        self.replace(now, at, CLIENT);
        self.add_carrier(now, at, CLIENT);
        self.stop_dialling(path);
    }

    /// Replaces it at the server after the first frame arrived.
    pub(crate) fn on_joined(&mut self, now: Time, at: usize) {
        self.replace(now, at, SERVER);
        self.add_carrier(now, at, SERVER);
    }

    fn replace(&mut self, now: Time, by: usize, end: usize) {
        let path = self.connections[by].path;
        for at in 0..self.connections.len() {
            let connection = &self.connections[at];
            if at != by && connection.path == path && connection.carriers[end].is_some() {
                self.remove_carrier(now, at, end);
                self.connections[at].abort(end);
                self.dirty.touch(at);
            }
        }
    }

    pub(crate) fn on_aborted(&mut self, now: Time, at: usize, end: usize) {
        let connection = &self.connections[at];
        let (path, was_carrier) = (connection.path, connection.carriers[end].is_some());
        self.remove_carrier(now, at, end);
        if end == CLIENT && was_carrier && !self.closing {
            self.redial(now, path);
        }
    }

    /// Moves the client's carriers to the indices of their paths, and removes connections that are over.
    pub(crate) fn order_connections(&mut self) {
        let paths = self.paths.len();
        if self.connections.len() == paths {
            return;
        }
        let mut moved = false;
        for at in paths..self.connections.len() {
            if self.connections[at].carriers[CLIENT].is_some() {
                let path = self.connections[at].path;
                self.connections.swap(at, path);
                moved = true;
            }
        }
        for at in (paths..self.connections.len()).rev() {
            if self.connections[at].is_over() {
                let connection = self.connections.remove(at);
                moved = true;
                let past = &mut self.paths[connection.path].past;
                past.counters += connection.ends[CLIENT].counters(0);
                past.duplicates += connection.ends[SERVER].duplicates(0);
            }
        }
        if moved {
            self.dirty.mark_all(&self.connections);
        }
    }
}
