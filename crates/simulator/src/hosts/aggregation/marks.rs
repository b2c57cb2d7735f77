//! A sparse set of indices.

/// A bit for each index, and a single word if there are few.
#[derive(Clone, Debug, Default)]
pub(super) struct Marks {
    words: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl Marks {
    /// An empty set for indices below `places`.
    pub(super) fn none_of(places: usize) -> Marks {
        Marks {
            words: vec![0; places.div_ceil(BITS)],
        }
    }

    /// The full set.
    pub(super) fn all_of(places: usize) -> Marks {
        let mut all = Marks::none_of(places);
        (0..places).for_each(|place| all.insert(place));
        all
    }

    #[inline]
    pub(super) fn insert(&mut self, place: usize) {
        self.words[place / BITS] |= 1 << (place % BITS);
    }

    #[inline]
    pub(super) fn contains(&self, place: usize) -> bool {
        self.words[place / BITS] >> (place % BITS) & 1 == 1
    }

    /// Removes an index; returns whether it was in the set.
    #[inline]
    pub(super) fn remove(&mut self, place: usize) -> bool {
        let was_marked = self.contains(place);
        self.words[place / BITS] &= !(1 << (place % BITS));
        was_marked
    }

    /// Removes the first index, and returns it.
    #[inline]
    pub(super) fn take_first(&mut self) -> Option<usize> {
        let mut words = self.words.iter_mut().enumerate();
        let (number, word) = words.find(|(_, word)| **word != 0)?;
        let place = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(number * BITS + place)
    }

    /// The first index from this one on that is marked here or in another set of the same size.
    #[inline]
    pub(super) fn next_in_either(&self, other: &Marks, from: usize) -> Option<usize> {
        let words = self.words.iter().zip(&other.words).enumerate();
        let either = words.map(|(number, (own, other))| (number, own | other));
        let mut behind = either.skip(from / BITS).map(|(number, word)| {
            let is_first = number == from / BITS;
            let before = if is_first {
                (1 << (from % BITS)) - 1
            } else {
                0
            };
            (number, word & !before)
        });
        let (number, word) = behind.find(|(_, word)| *word != 0)?;
        Some(number * BITS + word.trailing_zeros() as usize)
    }

    /// Moves all indices of another set to this one.
    #[inline]
    pub(super) fn take_all(&mut self, of: &mut Marks) {
        for (own, other) in self.words.iter_mut().zip(&mut of.words) {
            *own |= std::mem::take(other);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_a_set(
            places in 1_usize..200,
            changes in prop::collection::vec((0_usize..200, 0..5), 0..100),
            others in prop::collection::vec(0_usize..200, 0..10),
        ) {
            let (mut marks, mut model) = (Marks::none_of(places), BTreeSet::new());
            for (place, change) in changes {
                let place = place % places;
                match change {
                    0 | 1 => {
                        marks.insert(place);
                        model.insert(place);
                    }
                    2 => prop_assert_eq!(marks.remove(place), model.remove(&place)),
                    3 => prop_assert_eq!(marks.take_first(), model.pop_first()),
                    _ => {
                        let mut others = std::mem::replace(&mut marks, Marks::none_of(places));
                        marks.insert(place);
                        marks.take_all(&mut others);
                        prop_assert_eq!(others.take_first(), None);
                        model.insert(place);
                    }
                }
                prop_assert!((0..places).all(|at| marks.contains(at) == model.contains(&at)));
                let mut other = Marks::none_of(places);
                others.iter().for_each(|at| other.insert(at % places));
                let next = (place..places).find(|at| marks.contains(*at) || other.contains(*at));
                prop_assert_eq!(marks.next_in_either(&other, place), next);
            }
            prop_assert!((0..places).all(|at| Marks::all_of(places).contains(at)));
        }
    }
}
