//! When an association's paths are dialled, and what becomes of the connections.
//!
//! As the gateway's proxy does: a path without a carrier, or with a suspected one, is dialled every
//! 125 ms until one comes through, which replaces what was there.

use rand_core::Rng;
use ropewalk_quantities::Time;
use ropewalk_striping::CarrierId;
use ropewalk_transport::Counters;

use crate::association::Association;
use crate::carrier::{CLIENT, SERVER};
use crate::connection::Connection;

/// A path is dialled this often: each dial is a SYN of its own, since TCP sends a lost one again
/// only after a second.
const AGAIN: Time = Time::from_millis(125);
/// After so many in vain, only once in [`RARE`].
const SOON: u32 = 80;
const RARE: Time = Time::from_secs(1);
/// Dials of a path under way at a time.
const MOST: usize = 16;
/// How long one in [`PATIENT`] may take, for a path of long round trips. The others are given up
/// before TCP sends their SYN again, and begins with a window of one segment (RFC 5681, section 3.1).
pub(crate) const PATIENCE: Time = Time::from_secs(5);
const PATIENT: u16 = 8;
const IMPATIENCE: Time = Time::from_millis(875);

/// A path of an association.
#[derive(Clone, Debug, Default)]
pub(crate) struct Path {
    /// When it is dialled next; `None` while it has a carrier that is trusted.
    pub(crate) dial_at: Option<Time>,
    /// Dials so far, and those since it last had such a carrier.
    dials: u16,
    in_vain: u32,
    /// The application's bytes that it brought.
    pub(crate) delivered: u64,
    pub(crate) past: Past,
}

/// What was counted of connections that are forgotten.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Past {
    pub(crate) counters: Counters,
    pub(crate) duplicates: u64,
    pub(crate) resent: u64,
}

impl Association {
    /// One more connection on a path.
    pub(crate) fn dial(&mut self, now: Time, path: usize) {
        let random = &mut self.random;
        let state = &mut self.paths[path];
        let key = || random.next_u64();
        let is_patient = state.dials.is_multiple_of(PATIENT) || state.in_vain >= SOON;
        let patience = if is_patient { PATIENCE } else { IMPATIENCE };
        let until = now + patience;
        let connection = Connection::dial(until, path, state.dials, &self.config, key);
        state.dials = state.dials.wrapping_add(1);
        self.connections.push(connection);
    }

    /// The first connection of each path is being dialled.
    pub(crate) fn begin_dialling(&mut self, now: Time) {
        for path in &mut self.paths {
            path.dial_at = Some(now + AGAIN);
        }
    }

    /// Dials the paths whose time has come.
    pub(crate) fn dial_what_is_due(&mut self, now: Time) {
        for path in 0..self.paths.len() {
            let state = &mut self.paths[path];
            if state.dial_at.is_none_or(|at| at > now) {
                continue;
            }
            state.in_vain += 1;
            let wait = if state.in_vain < SOON { AGAIN } else { RARE };
            state.dial_at = Some(now + wait);
            let mut under_way = 0;
            for connection in &mut self.connections {
                if connection.path == path && connection.is_dialled() {
                    if now >= connection.dialled_until {
                        connection.abort(CLIENT);
                    } else {
                        under_way += 1;
                    }
                }
            }
            if under_way < MOST {
                self.dial(now, path);
            }
        }
    }

    pub(crate) fn on_suspected(&mut self, now: Time, id: CarrierId) {
        let path = self.of_carrier(CLIENT, id).map(|of| of.path);
        if let Some(path) = path.filter(|_| !self.closing) {
            self.dial_anew(now, path);
        }
    }

    pub(crate) fn on_trusted(&mut self, id: CarrierId) {
        let path = self.of_carrier(CLIENT, id).map(|of| of.path);
        if let Some(path) = path {
            self.stop_dialling(path);
        }
    }

    fn dial_anew(&mut self, now: Time, path: usize) {
        let state = &mut self.paths[path];
        state.dial_at = Some(now);
        state.in_vain = 0;
    }

    fn stop_dialling(&mut self, path: usize) {
        self.paths[path].dial_at = None;
        for connection in &mut self.connections {
            if connection.path == path && connection.is_dialled() {
                connection.abort(CLIENT);
            }
        }
    }

    /// A dial came through at the client: the connection replaces what the path had.
    pub(crate) fn on_dialled(&mut self, now: Time, at: usize) {
        let path = self.connections[at].path;
        self.replace(now, at, CLIENT);
        self.carry(now, at, CLIENT);
        self.stop_dialling(path);
    }

    /// The first frame came to the server: the same there.
    pub(crate) fn on_joined(&mut self, now: Time, at: usize) {
        self.replace(now, at, SERVER);
        self.carry(now, at, SERVER);
    }

    fn replace(&mut self, now: Time, by: usize, end: usize) {
        let path = self.connections[by].path;
        for at in 0..self.connections.len() {
            let connection = &self.connections[at];
            if at != by && connection.path == path && connection.carriers[end].is_some() {
                self.let_go(now, at, end);
                self.connections[at].abort(end);
            }
        }
    }

    /// An end's TCP gave up, or the other end did.
    pub(crate) fn on_aborted(&mut self, now: Time, at: usize, end: usize) {
        let connection = &self.connections[at];
        let (path, was_carrier) = (connection.path, connection.carriers[end].is_some());
        self.let_go(now, at, end);
        if end == CLIENT && was_carrier && !self.closing {
            self.dial_anew(now, path);
        }
    }

    /// Puts the client's carriers in their paths' places, and forgets what is over.
    pub(crate) fn tidy(&mut self) {
        let paths = self.paths.len();
        if self.connections.len() == paths {
            return;
        }
        for at in paths..self.connections.len() {
            if self.connections[at].carriers[CLIENT].is_some() {
                let path = self.connections[at].path;
                self.connections.swap(at, path);
            }
        }
        for at in (paths..self.connections.len()).rev() {
            if self.connections[at].is_over() {
                let connection = self.connections.remove(at);
                let past = &mut self.paths[connection.path].past;
                past.counters += connection.ends[CLIENT].counters(0);
                past.duplicates += connection.ends[SERVER].duplicates(0);
            }
        }
    }
}

impl Connection {
    /// The client is still opening it.
    fn is_dialled(&self) -> bool {
        self.carriers[CLIENT].is_none() && !self.ends[CLIENT].is_closed()
    }
}
