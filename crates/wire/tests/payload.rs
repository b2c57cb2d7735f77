//! The self-verifying payload.

use proptest::prelude::*;
use ropewalk_wire::payload::{fill, first_difference};

fn by_definition(offset: u64) -> u8 {
    (offset / 8 * 8).to_be_bytes()[(offset % 8) as usize]
}

#[test]
fn words_are_their_offsets() {
    let mut bytes = [0xee; 24];
    fill(0x0102_0304_0506_0700, &mut bytes);
    assert_eq!(
        bytes,
        [
            1, 2, 3, 4, 5, 6, 7, 0x00, 1, 2, 3, 4, 5, 6, 7, 0x08, 1, 2, 3, 4, 5, 6, 7, 0x10
        ]
    );
    let mut middle = [0xee; 3];
    fill(0x0102_0304_0506_0702, &mut middle);
    assert_eq!(middle, [3, 4, 5]);
}

#[test]
fn a_stream_may_be_as_long_as_its_offsets() {
    let mut bytes = [0xee; 24];
    fill(u64::MAX - 10, &mut bytes);
    let max = u64::MAX;
    let expected: Vec<u8> = (0..24_u64)
        .map(|index| by_definition((max - 10).wrapping_add(index)))
        .collect();
    assert_eq!(bytes, expected[..]);
    assert_eq!(first_difference(u64::MAX - 10, &bytes), None);
}

proptest! {
    #[test]
    fn pieces_are_what_the_definition_says(offset in any::<u64>(), len in 0_usize..100) {
        let mut bytes = vec![0xee; len];
        fill(offset, &mut bytes);
        for (index, byte) in bytes.iter().enumerate() {
            prop_assert_eq!(*byte, by_definition(offset.wrapping_add(index as u64)));
        }
        prop_assert_eq!(first_difference(offset, &bytes), None);
    }

    #[test]
    fn the_first_of_all_differences_is_found(
        offset in any::<u64>(),
        len in 1_usize..100,
        changes in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..4),
    ) {
        let mut bytes = vec![0; len];
        fill(offset, &mut bytes);
        let right = bytes.clone();
        for (index, change) in changes {
            bytes[index.index(len)] ^= change;
        }
        let first = (0..len).find(|index| bytes[*index] != right[*index]);
        prop_assert_eq!(first_difference(offset, &bytes), first);
    }
}
