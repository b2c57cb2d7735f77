//! Pending ranges of a stream, and the offset behind a number of pending bytes.
//!
//! A carrier that delivers later by some bytes sends the data behind that many pending bytes. With many links
//! there are hundreds of pending ranges between the parts sent ahead. So pending bytes are counted per block
//! of the stream, and ranges are searched only within one block.

use std::collections::VecDeque;

use ropewalk_transport::RangeSet;

/// With 64 links a block has about ten ranges, and a window about ten blocks.
const BLOCK: u64 = 256 << 10;

#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    ranges: RangeSet,
    /// Pending bytes in each block, from block `first` on. There are none before it, and everything behind
    /// the last one is pending.
    blocks: VecDeque<u64>,
    first: u64,
}

impl Waiting {
    /// Adds `start..end`; returns how many of its bytes were not pending.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        let counted = self.counted();
        let mut new = 0;
        for (block, from, to) in blocks(start, end.min(counted)) {
            let here = self.ranges.insert(from, to);
            if here > 0 {
                *self.block(block) += here;
            }
            new += here;
        }
        new + self.ranges.insert(start.max(counted), end)
    }

    /// Removes `start..end`; returns how many of its bytes were pending.
    pub(crate) fn remove(&mut self, start: u64, end: u64) -> u64 {
        while self.counted() < end {
            let from = self.counted();
            let here = self.ranges.within(from, from.saturating_add(BLOCK));
            let bytes = here.map(|(start, end)| end - start).sum();
            self.blocks.push_back(bytes);
        }
        let mut gone = 0;
        for (block, from, to) in blocks(start, end) {
            let here = self.ranges.remove(from, to);
            if here > 0 {
                *self.block(block) -= here;
            }
            gone += here;
        }
        while self.blocks.front() == Some(&0) {
            self.blocks.pop_front();
            self.first += 1;
        }
        gone
    }

    /// Offset up to which bytes are counted per block.
    fn counted(&self) -> u64 {
        (self.first + self.blocks.len() as u64).saturating_mul(BLOCK)
    }

    fn block(&mut self, number: u64) -> &mut u64 {
        while number < self.first {
            self.blocks.push_front(0);
            self.first -= 1;
        }
        &mut self.blocks[(number - self.first) as usize]
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.ranges.covered()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    pub(crate) fn first(&self) -> Option<(u64, u64)> {
        self.ranges.first()
    }

    pub(crate) fn containing(&self, place: u64) -> Option<(u64, u64)> {
        self.ranges.containing(place)
    }

    /// Iterates over the ranges from an offset on; one that spans it is cut.
    pub(crate) fn after(&self, place: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges.within(place, u64::MAX)
    }

    pub(crate) fn before(&self, place: u64) -> u64 {
        let block = (place / BLOCK).clamp(self.first, self.first + self.blocks.len() as u64);
        let whole = self.blocks.range(..(block - self.first) as usize);
        let part = self.ranges.within(block * BLOCK, place);
        whole.sum::<u64>() + part.map(|(start, end)| end - start).sum::<u64>()
    }

    /// Returns the offset of the byte behind `skip` pending bytes.
    pub(crate) fn place_of(&self, skip: u64) -> Option<u64> {
        if skip >= self.bytes() {
            return None;
        }
        let mut left = skip;
        let mut block = self.first;
        for bytes in &self.blocks {
            if left < *bytes {
                break;
            }
            left -= bytes;
            block += 1;
        }
        self.after(block * BLOCK).find_map(|(start, end)| {
            let skipped = left.min(end - start);
            left -= skipped;
            (start + skipped < end).then_some(start + skipped)
        })
    }
}

/// Iterates over the intersections of `start..end` with each block.
fn blocks(start: u64, end: u64) -> impl Iterator<Item = (u64, u64, u64)> {
    let mut from = start;
    std::iter::from_fn(move || {
        if from >= end {
            return None;
        }
        let block = from / BLOCK;
        let to = end.min((block + 1).saturating_mul(BLOCK));
        let part = (block, from, to);
        from = to;
        Some(part)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_place_is_found_as_by_counting_from_the_first_range(
            steps in prop::collection::vec(
                (any::<bool>(), 0..8 * BLOCK, 1..2 * BLOCK, 0..8 * BLOCK), 1..60,
            ),
        ) {
            let (mut waiting, mut ranges) = (Waiting::default(), RangeSet::default());
            for (is_new, start, len, skip) in steps {
                let end = start + len;
                if is_new {
                    prop_assert_eq!(waiting.insert(start, end), ranges.insert(start, end));
                } else {
                    prop_assert_eq!(waiting.remove(start, end), ranges.remove(start, end));
                }
                prop_assert_eq!(waiting.bytes(), ranges.covered());
                prop_assert!(waiting.after(0).eq(ranges.iter()));
                let mut left = skip;
                let counted = ranges.iter().find_map(|(start, end)| {
                    let place = start + left;
                    left = left.saturating_sub(end - start);
                    (place < end).then_some(place)
                });
                prop_assert_eq!(waiting.place_of(skip), counted);
                let before = ranges.within(0, skip).map(|(start, end)| end - start);
                prop_assert_eq!(waiting.before(skip), before.sum::<u64>());
            }
        }
    }
}
