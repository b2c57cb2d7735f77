//! Networks of independent parts, which share no route.

use std::ops::Range;

use super::Network;
use crate::event_index::EventIndex;
use crate::medium::Medium;

impl<P: Copy, M: Medium<P>> Network<P, M> {
    /// Divides the hops, before any packet is offered, into parts that no route leaves.
    ///
    /// From then on packets are offered to the part [selected](Network::select_part) last, and the next event
    /// is that part's. Each part has a time of its own.
    ///
    /// # Panics
    /// With media, or without parts.
    pub fn divide(&mut self, parts: &[Range<usize>]) {
        assert!(self.media.is_empty(), "no media");
        let parts = parts.iter();
        self.parts = parts
            .map(|hops| (hops.start, EventIndex::of(hops.len())))
            .collect();
        self.part = 0;
        std::mem::swap(&mut self.events, &mut self.parts[0].1);
        self.first_hop = self.parts[0].0;
    }

    /// Selects a part.
    pub fn select_part(&mut self, part: usize) {
        std::mem::swap(&mut self.events, &mut self.parts[self.part].1);
        let (first_hop, due) = &mut self.parts[part];
        std::mem::swap(&mut self.events, due);
        self.first_hop = *first_hop;
        self.part = part;
    }
}
