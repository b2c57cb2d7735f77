//! Counters of an aggregation: each path is a subflow, over all its connections.

use ropewalk_transport::{Counters, Endpoint, SubflowState};

use super::Aggregation;
use crate::hosts::sending_host::{CLIENT, SERVER};

impl Aggregation {
    pub(crate) fn key(&self, end: usize) -> u64 {
        self.connections[0].ends[end].key()
    }

    pub(crate) fn subflows(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn state(&self, path: usize) -> &SubflowState {
        &self.connections[path].ends[CLIENT].subflow_states()[0]
    }

    pub(crate) fn counters(&self, path: usize) -> Counters {
        let mut all = self.paths[path].past.counters;
        for connection in self.connections.iter().filter(|of| of.path == path) {
            all += connection.ends[CLIENT].counters(0);
        }
        all
    }

    pub(crate) fn duplicates(&self, path: usize) -> u64 {
        let own = self.connections.iter().filter(|of| of.path == path);
        let duplicates = own.map(|of| of.ends[SERVER].duplicates(0));
        self.paths[path].past.duplicates + duplicates.sum::<u64>()
    }

    pub(crate) fn resent_by(&self, path: usize) -> u64 {
        let own = self.connections.iter().filter(|of| of.path == path);
        let resent = own
            .filter_map(|of| self.ends[CLIENT].carrier_statistics(of.carriers[CLIENT]?))
            .map(|statistics| statistics.resent.as_u64());
        self.paths[path].past.resent + resent.sum::<u64>()
    }

    pub(crate) fn delivered_by(&self, path: usize) -> u64 {
        self.paths[path].delivered
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.received.delivered
    }

    pub(crate) fn reorder_buffer(&self) -> u64 {
        self.received.held
    }

    pub(crate) fn reorder_buffer_max(&self) -> u64 {
        self.received.held_max
    }

    pub(crate) fn restart_reorder_buffer_max(&mut self) {
        self.received.held_max = self.received.held;
    }

    pub(crate) fn packets(&self) -> (u64, u64) {
        (self.received.frames, self.received.out_of_order)
    }

    pub(crate) fn is_closed(&self) -> bool {
        let mut ends = self.connections.iter().flat_map(|of| &of.ends);
        ends.all(Endpoint::is_closed)
    }
}
