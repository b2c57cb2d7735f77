//! Payload that verifies itself: each byte depends on its offset in the stream.
//!
//! The eight bytes at offset `o`, a multiple of eight, are `o` as a big-endian number. Any piece
//! can be generated and verified from its offset alone, and a packet dump shows the offset.

/// Fills `out` with the stream's bytes from `offset`.
pub fn fill(offset: u64, out: &mut [u8]) {
    let (head, rest) = out.split_at_mut(head_len(offset, out.len()));
    let word = word_at(offset);
    head.copy_from_slice(&word[within(offset)..][..head.len()]);

    let mut at = offset.wrapping_add(head.len() as u64);
    let (words, tail) = rest.as_chunks_mut::<8>();
    for word in words {
        *word = at.to_be_bytes();
        at = at.wrapping_add(8);
    }
    tail.copy_from_slice(&at.to_be_bytes()[..tail.len()]);
}

/// Index of the first byte of `bytes` that differs from the stream at `offset`; `None` if all
/// match.
#[must_use]
pub fn first_difference(offset: u64, bytes: &[u8]) -> Option<usize> {
    let (head, rest) = bytes.split_at(head_len(offset, bytes.len()));
    let (words, _) = rest.as_chunks::<8>();
    let start = offset.wrapping_add(head.len() as u64);
    let same = words
        .iter()
        .zip(0_u64..)
        .take_while(|(word, index)| **word == start.wrapping_add(index * 8).to_be_bytes())
        .count();
    // Compares single bytes only outside the run of matching words.
    let right = head.len()..head.len() + same * 8;
    let differs = |index: &usize| {
        let at = offset.wrapping_add(*index as u64);
        bytes[*index] != word_at(at)[within(at)]
    };
    (0..right.start)
        .find(differs)
        .or_else(|| (right.end..bytes.len()).find(differs))
}

/// Bytes before the next whole word, at most `len`.
#[inline]
fn head_len(offset: u64, len: usize) -> usize {
    (offset.wrapping_neg() % 8).min(len as u64) as usize
}

#[inline]
fn word_at(offset: u64) -> [u8; 8] {
    (offset & !7).to_be_bytes()
}

#[inline]
fn within(offset: u64) -> usize {
    (offset % 8) as usize
}
