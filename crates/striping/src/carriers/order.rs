//! The order in which the driver polls carriers, which need not be that in which they came up.

use crate::CarrierId;

/// Each carrier has a place in it.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The carriers' numbers in this order.
    numbers: Vec<u32>,
    /// Index of the carrier at each place, and place of each carrier by its index.
    indices: Vec<usize>,
    places: Vec<usize>,
}

impl Order {
    /// Adds a carrier, which comes last.
    pub(super) fn push(&mut self, number: u32) {
        let at = self.places.len();
        self.numbers.push(number);
        self.indices.push(at);
        self.places.push(at);
    }

    /// Removes a carrier; those behind it move up. Returns its place.
    pub(super) fn remove(&mut self, at: usize) -> usize {
        let place = self.places.remove(at);
        self.numbers.remove(place);
        self.indices.remove(place);
        for index in self.indices.iter_mut().filter(|index| **index > at) {
            *index -= 1;
        }
        for moved in self.places.iter_mut().filter(|moved| **moved > place) {
            *moved -= 1;
        }
        place
    }

    #[inline]
    pub(super) fn place(&self, at: usize) -> usize {
        self.places[at]
    }

    #[inline]
    pub(super) fn at(&self, place: usize) -> usize {
        self.indices[place]
    }

    /// Whether these are all carriers in this order.
    pub(super) fn is(&self, ids: &[CarrierId]) -> bool {
        let pairs = self.numbers.iter().zip(ids);
        // Without an early exit, the compiler compares several at a time.
        let differ = pairs.fold(0, |differ, (number, id)| differ | number ^ id.0);
        self.numbers.len() == ids.len() && differ == 0
    }

    /// Another order of the same carriers, with the new place of each old one. `None` if these are not all carriers.
    pub(super) fn changed_to(&self, ids: &[CarrierId]) -> Option<(Order, Vec<usize>)> {
        let mut moved = vec![usize::MAX; self.numbers.len()];
        for (place, id) in ids.iter().enumerate() {
            let before = self.numbers.iter().position(|number| *number == id.0)?;
            moved[before] = place;
        }
        if ids.len() != moved.len() || moved.contains(&usize::MAX) {
            return None;
        }
        let places: Vec<usize> = self.places.iter().map(|before| moved[*before]).collect();
        let mut indices = vec![0; places.len()];
        for (at, place) in places.iter().enumerate() {
            indices[*place] = at;
        }
        let order = Order {
            numbers: ids.iter().map(|id| id.0).collect(),
            indices,
            places,
        };
        Some((order, moved))
    }
}
