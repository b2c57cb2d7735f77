//! Sets of carriers a word at a time: of many carriers, most words have none of those that are looked for.

/// How many carriers a word tells of.
pub(super) const BITS: usize = usize::BITS as usize;

/// The first member, from an index on, of the set with these words.
pub(super) fn first_from(words: impl Iterator<Item = usize>, from: usize) -> Option<usize> {
    let mut words = words.enumerate().skip(from / BITS);
    let (number, word) = words.find_map(|(number, word)| {
        let word = word & !below(from, number);
        (word != 0).then_some((number, word))
    })?;
    Some(number * BITS + word.trailing_zeros() as usize)
}

/// Of the word of this number, those below an index, which is not below that word.
pub(super) fn below(index: usize, number: usize) -> usize {
    match index / BITS == number {
        true => (1 << (index % BITS)) - 1,
        false if number < index / BITS => usize::MAX,
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use fixedbitset::FixedBitSet;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_are_looked_through_as_one_member_at_a_time(
            members in proptest::collection::vec(0..200_usize, 0..20),
            index in 0..200_usize,
        ) {
            let set: FixedBitSet = members.iter().copied().collect();
            let words = set.as_slice().iter().copied();
            let first = set.ones().find(|at| *at >= index);
            prop_assert_eq!(first_from(words.clone(), index), first);
            let kept = words.enumerate().map(|(number, word)| word & below(index, number));
            let kept: u32 = kept.map(usize::count_ones).sum();
            prop_assert_eq!(kept as usize, set.ones().filter(|at| *at < index).count());
        }
    }
}
