//! Sets of carriers a word at a time: few have more than a word.

const BITS: usize = usize::BITS as usize;

/// Indices below a number that only grows.
#[derive(Clone, Debug, Default)]
pub(super) struct Set {
    words: Vec<usize>,
}

impl Set {
    /// There are so many carriers.
    pub(super) fn grow(&mut self, carriers: usize) {
        let words = carriers.div_ceil(BITS).max(self.words.len());
        self.words.resize(words, 0);
    }

    #[inline]
    pub(super) fn insert(&mut self, at: usize) {
        self.words[at / BITS] |= 1 << (at % BITS);
    }

    #[inline]
    pub(super) fn remove(&mut self, at: usize) {
        self.words[at / BITS] &= !(1 << (at % BITS));
    }

    #[inline]
    pub(super) fn contains(&self, at: usize) -> bool {
        self.words[at / BITS] >> (at % BITS) & 1 == 1
    }

    #[inline]
    pub(super) fn clear(&mut self) {
        self.words.iter_mut().for_each(|word| *word = 0);
    }

    #[inline]
    pub(super) fn is_clear(&self) -> bool {
        self.words.iter().all(|word| *word == 0)
    }

    /// Takes all members of another set.
    #[inline]
    pub(super) fn insert_all(&mut self, other: &Set) {
        for (own, other) in self.words.iter_mut().zip(&other.words) {
            *own |= other;
        }
    }

    /// Removes all members of another set.
    #[inline]
    pub(super) fn remove_all(&mut self, other: &Set) {
        for (own, other) in self.words.iter_mut().zip(&other.words) {
            *own &= !other;
        }
    }

    /// Its members below an index.
    pub(super) fn below(&self, index: usize) -> impl Iterator<Item = usize> + '_ {
        self.iter().take_while(move |at| *at < index)
    }

    /// Its members, in ascending order.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.words.iter().copied().enumerate();
        words.flat_map(|(number, word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(number * BITS + bit)
            })
        })
    }

    /// The first member, from an index on, that is not in the second set unless it is in the third, too.
    #[inline]
    pub(super) fn first_without(&self, from: usize, without: &Set, unless: &Set) -> Option<usize> {
        let others = without.words.iter().zip(&unless.words);
        let words = self.words.iter().zip(others).enumerate();
        let mut words = words.skip(from / BITS);
        words.find_map(|(number, (own, (without, unless)))| {
            let before = match from / BITS == number {
                true => (1 << (from % BITS)) - 1,
                false => 0,
            };
            let word = own & (!without | unless) & !before;
            (word != 0).then(|| number * BITS + word.trailing_zeros() as usize)
        })
    }

    /// Each member moves to where it is told to, or leaves.
    pub(super) fn move_all(&mut self, to: impl Fn(usize) -> Option<usize>) {
        let moved: Vec<usize> = self.iter().filter_map(to).collect();
        self.clear();
        moved.into_iter().for_each(|at| self.insert(at));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn both(members: &[usize]) -> (Set, BTreeSet<usize>) {
        let mut set = Set::default();
        set.grow(200);
        members.iter().for_each(|at| set.insert(*at));
        (set, members.iter().copied().collect())
    }

    proptest! {
        #[test]
        fn they_are_sets(
            members in proptest::collection::vec(proptest::collection::vec(0..200_usize, 0..40), 3),
            at in 0..200_usize,
        ) {
            let [(mut set, mut model), (other, others), (third, thirds)] = [0, 1, 2].map(|number| both(&members[number]));
            prop_assert!(set.iter().eq(model.iter().copied()));
            prop_assert!(set.below(at).eq(model.range(..at).copied()));
            prop_assert_eq!(set.contains(at), model.contains(&at));
            prop_assert_eq!(set.is_clear(), model.is_empty());
            let mut left = model.range(at..).filter(|at| !others.contains(at) || thirds.contains(at));
            prop_assert_eq!(set.first_without(at, &other, &third), left.next().copied());
            set.insert_all(&third);
            model.extend(&thirds);
            set.remove_all(&other);
            model.retain(|at| !others.contains(at));
            set.remove(at);
            model.remove(&at);
            prop_assert!(set.iter().eq(model.iter().copied()));
            set.move_all(|from| (from != 7).then(|| 199 - from));
            model.remove(&7);
            prop_assert!(set.iter().eq(model.iter().rev().map(|from| 199 - from)));
            set.clear();
            prop_assert!(set.is_clear());
        }
    }
}
