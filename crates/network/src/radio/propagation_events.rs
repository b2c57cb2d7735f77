//! Frames in propagation: arrival times of their starts and ends at each radio in reach.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ropewalk_quantities::Time;

use super::next_events::RadioEvent;

const SPEED_OF_LIGHT: f64 = 299_792_458.0;

/// Returns the propagation delay over a distance, rounded to the nanosecond.
pub fn propagation_delay(metres: f64) -> Time {
    Time::from_nanos((metres / SPEED_OF_LIGHT * 1e9).round() as u64)
}

/// Start or end of a frame. At equal times ends come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edge {
    End,
    Begin,
}

/// Edge that arrives at a neighbour of the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PropagationEvent {
    pub(super) time: Time,
    pub(super) edge: Edge,
    /// Order of transmission, which breaks ties.
    order: u64,
    pub(super) from: u32,
    pub(super) place: u32,
}

impl PropagationEvent {
    /// Returns whether this comes before the next event of a radio. At equal times ends on the air come
    /// first, and a start comes before other starts, as with instant propagation.
    pub(super) fn is_before(&self, other: Option<(usize, Time, RadioEvent)>) -> bool {
        let Some((_, time, due)) = other else {
            return true;
        };
        let first = match self.edge {
            Edge::End => true,
            Edge::Begin => due == RadioEvent::Start,
        };
        self.time < time || self.time == time && first
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct PropagationEvents {
    heap: BinaryHeap<Reverse<PropagationEvent>>,
    sent: u64,
}

impl PropagationEvents {
    pub(super) fn send(&mut self, time: Time, edge: Edge, from: usize, place: usize) {
        self.sent += 1;
        self.heap.push(Reverse(PropagationEvent {
            time,
            edge,
            order: self.sent,
            from: from as u32,
            place: place as u32,
        }));
    }

    pub(super) fn first(&self) -> Option<PropagationEvent> {
        self.heap.peek().map(|first| first.0)
    }

    pub(super) fn take(&mut self) -> Option<PropagationEvent> {
        self.heap.pop().map(|first| first.0)
    }
}
