//! What is asked of sets of carriers that [`FixedBitSet`] does not tell.

use fixedbitset::FixedBitSet;

const BITS: usize = usize::BITS as usize;

/// The first member, from an index on, that is not in the second set unless it is in the third, too. The sets have
/// room for the same carriers.
#[inline]
pub(super) fn first_without(
    set: &FixedBitSet,
    from: usize,
    without: &FixedBitSet,
    unless: &FixedBitSet,
) -> Option<usize> {
    let others = without.as_slice().iter().zip(unless.as_slice());
    let words = set.as_slice().iter().zip(others).enumerate();
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
pub(super) fn move_all(set: &mut FixedBitSet, to: impl Fn(usize) -> Option<usize>) {
    let moved: Vec<usize> = set.ones().filter_map(to).collect();
    set.clear();
    set.extend(moved);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CARRIERS: usize = 200;

    fn set_of(members: &[usize]) -> FixedBitSet {
        let mut set = FixedBitSet::with_capacity(CARRIERS);
        set.extend(members.iter().copied());
        set
    }

    proptest! {
        #[test]
        fn the_first_is_what_a_look_at_each_finds(
            members in prop::collection::vec(prop::collection::vec(0..CARRIERS, 0..40), 3),
            from in 0..CARRIERS,
        ) {
            let [set, without, unless] = [0, 1, 2].map(|number| set_of(&members[number]));
            let is_wanted = |at: &usize| *at >= from && (!without.contains(*at) || unless.contains(*at));
            prop_assert_eq!(first_without(&set, from, &without, &unless), set.ones().find(is_wanted));
        }

        #[test]
        fn members_move_or_leave(members in prop::collection::vec(0..CARRIERS, 0..40)) {
            let mut set = set_of(&members);
            let before = set.clone();
            move_all(&mut set, |from| (from != 7).then(|| CARRIERS - 1 - from));
            let expected: Vec<usize> = before.ones().filter(|at| *at != 7).map(|at| CARRIERS - 1 - at).collect();
            prop_assert!(set.ones().eq(expected.into_iter().rev()));
        }
    }
}
