//! What carries a flow: one connection, or an association of several.

use ropewalk_transport::{Counters, Endpoint, SubflowState};

use crate::association::Association;

pub(crate) const CLIENT: usize = 0;
pub(crate) const SERVER: usize = 1;

/// Client and server, however they are connected.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "the large one is the usual one, and is read with every packet"
)]
pub(crate) enum Carrier {
    /// One connection: its client and its server.
    Connection([Endpoint; 2]),
    /// Several, one on each path; each counts as a subflow.
    Association(Box<Association>),
}

impl Carrier {
    /// How many connections there are.
    #[inline]
    pub(crate) fn connections(&self) -> usize {
        match self {
            Carrier::Connection(_) => 1,
            Carrier::Association(association) => association.connections.len(),
        }
    }

    /// One end of a connection.
    #[inline]
    pub(crate) fn end(&self, connection: usize, end: usize) -> &Endpoint {
        match self {
            Carrier::Connection(ends) => &ends[end],
            Carrier::Association(association) => &association.connections[connection].ends[end],
        }
    }

    /// One end of a connection, to be driven.
    #[inline]
    pub(crate) fn end_mut(&mut self, connection: usize, end: usize) -> &mut Endpoint {
        match self {
            Carrier::Connection(ends) => &mut ends[end],
            Carrier::Association(association) => &mut association.connections[connection].ends[end],
        }
    }

    /// Of a connection: the number of its first subflow, and how many its path had before it.
    #[inline]
    pub(crate) fn numbers(&self, connection: usize) -> (usize, u16) {
        match self {
            Carrier::Connection(_) => (0, 0),
            Carrier::Association(association) => {
                let connection = &association.connections[connection];
                (connection.path, connection.dial)
            }
        }
    }

    /// How many subflows the client has.
    pub(crate) fn subflows(&self) -> usize {
        match self {
            Carrier::Connection(ends) => ends[CLIENT].subflow_states().len(),
            Carrier::Association(association) => association.paths.len(),
        }
    }

    /// A subflow as its sender sees it.
    pub(crate) fn state(&self, subflow: usize) -> &SubflowState {
        match self {
            Carrier::Connection(ends) => &ends[CLIENT].subflow_states()[subflow],
            Carrier::Association(association) => {
                &association.connections[subflow].ends[CLIENT].subflow_states()[0]
            }
        }
    }

    /// What a subflow's sender counted.
    pub(crate) fn counters(&self, subflow: usize) -> Counters {
        match self {
            Carrier::Connection(ends) => ends[CLIENT].counters(subflow),
            Carrier::Association(association) => association.counters(subflow),
        }
    }

    /// Data segments that arrived by this subflow and brought nothing new to it.
    pub(crate) fn duplicates(&self, subflow: usize) -> u64 {
        match self {
            Carrier::Connection(ends) => ends[SERVER].duplicates(subflow),
            Carrier::Association(association) => association.duplicates(subflow),
        }
    }

    /// The application's bytes that this subflow brought.
    pub(crate) fn delivered_by(&self, subflow: usize) -> u64 {
        match self {
            Carrier::Connection([_, server]) if subflow < server.subflow_states().len() => {
                server.delivered_by(subflow)
            }
            Carrier::Connection(_) => 0,
            Carrier::Association(association) => association.delivered_by(subflow),
        }
    }

    /// Bytes that this subflow held and others were given, too; only of an association's.
    pub(crate) fn resent_by(&self, subflow: usize) -> Option<u64> {
        match self {
            Carrier::Connection(_) => None,
            Carrier::Association(association) => Some(association.resent_by(subflow)),
        }
    }

    /// Bytes that arrived in order.
    pub(crate) fn delivered(&self) -> u64 {
        match self {
            Carrier::Connection([_, server]) => server.delivered(),
            Carrier::Association(association) => association.delivered(),
        }
    }

    /// Bytes that wait for a gap before them to close.
    pub(crate) fn reorder_buffer(&self) -> u64 {
        match self {
            Carrier::Connection([_, server]) => server.reorder_buffer(),
            Carrier::Association(association) => association.held(),
        }
    }

    /// Most bytes that ever waited.
    pub(crate) fn reorder_buffer_max(&self) -> u64 {
        match self {
            Carrier::Connection([_, server]) => server.reorder_buffer_max(),
            Carrier::Association(association) => association.held_max(),
        }
    }

    /// From now on, the most bytes that waited tell of what is to come.
    pub(crate) fn restart_reorder_buffer_max(&mut self) {
        match self {
            Carrier::Connection([_, server]) => server.restart_reorder_buffer_max(),
            Carrier::Association(association) => association.restart_held_max(),
        }
    }

    /// Data packets that brought something new, and those of them that had to wait for another.
    pub(crate) fn packets(&self) -> (u64, u64) {
        match self {
            Carrier::Connection([_, server]) => server.packets(),
            Carrier::Association(association) => association.packets(),
        }
    }

    /// All is over, on both sides.
    pub(crate) fn is_closed(&self) -> bool {
        (0..self.connections()).all(|connection| {
            [CLIENT, SERVER].map(|end| self.end(connection, end).is_closed()) == [true; 2]
        })
    }
}
