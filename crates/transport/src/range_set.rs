use std::collections::VecDeque;

/// Disjoint half-open ranges of offsets, sorted; adjacent ranges are merged.
///
/// Optimised for reassembly: most inserts extend the last range or close the first gap, and both are cheap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeSet {
    ranges: VecDeque<(u64, u64)>,
    covered: u64,
}

impl RangeSet {
    /// Whether it is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Total bytes.
    #[inline]
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// The lowest range.
    #[inline]
    pub fn first(&self) -> Option<(u64, u64)> {
        self.ranges.front().copied()
    }

    /// The highest range.
    #[inline]
    pub fn last(&self) -> Option<(u64, u64)> {
        self.ranges.back().copied()
    }

    /// Intersection with `start..end`, in ascending order.
    pub fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self.ranges.partition_point(|&(_, e)| e <= start);
        self.ranges
            .range(first..)
            .take_while(move |&&(s, _)| s < end)
            .map(move |&(s, e)| (s.max(start), e.min(end)))
    }

    pub(crate) fn release_memory(&mut self) {
        self.ranges.shrink_to_fit();
    }

    /// The ranges in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ranges.iter().copied()
    }

    /// The range that contains `offset`.
    pub fn containing(&self, offset: u64) -> Option<(u64, u64)> {
        let at = self.ranges.partition_point(|&(_, end)| end <= offset);
        self.ranges
            .get(at)
            .copied()
            .filter(|&(start, _)| start <= offset)
    }

    /// Becomes a copy of another set, reusing its memory.
    pub fn copy_from(&mut self, other: &RangeSet) {
        self.ranges.clear();
        self.ranges.extend(&other.ranges);
        self.covered = other.covered;
    }

    #[inline]
    pub(crate) fn set_to(&mut self, bytes: u64) {
        self.ranges.clear();
        self.covered = bytes;
        if bytes > 0 {
            self.ranges.push_back((0, bytes));
        }
    }

    /// Adds `start..end`; returns how many of its bytes are new.
    pub fn insert(&mut self, start: u64, end: u64) -> u64 {
        self.insert_and_find(start, end).0
    }

    /// Adds `start..end`; returns how many of its bytes are new, and the range that contains it.
    #[inline(always)]
    pub(crate) fn insert_and_find(&mut self, start: u64, end: u64) -> (u64, (u64, u64)) {
        if start >= end {
            return (0, (start, start));
        }
        match self.ranges.back_mut() {
            None => {
                self.ranges.push_back((start, end));
                self.covered += end - start;
                return (end - start, (start, end));
            }
            Some(&mut (_, last_end)) if start > last_end => {
                self.ranges.push_back((start, end));
                self.covered += end - start;
                return (end - start, (start, end));
            }
            Some(last) if start >= last.0 => {
                let new = end.saturating_sub(last.1);
                last.1 = last.1.max(end);
                self.covered += new;
                return (new, *last);
            }
            Some(_) => {}
        }
        let first = match self.ranges.front() {
            Some(&(_, e)) if e >= start => 0,
            _ => self.ranges.partition_point(|&(_, e)| e < start),
        };
        let mut after = first;
        let mut merged = (start, end);
        let mut known = 0;
        while let Some(&(s, e)) = self.ranges.get(after) {
            if s > end {
                break;
            }
            known += e - s;
            merged = (merged.0.min(s), merged.1.max(e));
            after += 1;
        }
        if first == after {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            if after > first + 1 {
                self.ranges.drain(first + 1..after);
            }
        }
        let new = (merged.1 - merged.0) - known;
        self.covered += new;
        (new, merged)
    }

    /// Removes everything below `offset`.
    pub fn remove_below(&mut self, offset: u64) {
        while let Some(front) = self.ranges.front_mut() {
            if front.1 <= offset {
                self.covered -= front.1 - front.0;
                self.ranges.pop_front();
            } else {
                if front.0 < offset {
                    self.covered -= offset - front.0;
                    front.0 = offset;
                }
                break;
            }
        }
    }

    /// Removes `start..end`; returns how many of its bytes were present.
    pub fn remove(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let before = self.covered;
        let mut at = self.ranges.partition_point(|&(_, e)| e <= start);
        while let Some(range) = self.ranges.get_mut(at) {
            let (s, e) = *range;
            if s >= end {
                break;
            }
            self.covered -= e.min(end) - s.max(start);
            match (s < start, e > end) {
                (true, true) => {
                    range.1 = start;
                    self.ranges.insert(at + 1, (end, e));
                    break;
                }
                (true, false) => {
                    range.1 = start;
                    at += 1;
                }
                (false, true) => {
                    range.0 = end;
                    break;
                }
                (false, false) => {
                    self.ranges.remove(at);
                }
            }
        }
        before - self.covered
    }

    /// Removes up to `most` bytes from the front of the first range.
    pub fn take_first(&mut self, most: u64) -> Option<(u64, u64)> {
        let (start, end) = self.first()?;
        let taken = end.min(start + most);
        self.remove_below(taken);
        Some((start, taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(ranges: &[(u64, u64)]) -> RangeSet {
        let mut set = RangeSet::default();
        for &(start, end) in ranges {
            set.insert(start, end);
        }
        set
    }

    #[test]
    fn neighbours_merge() {
        assert_eq!(set(&[(0, 2), (4, 6), (2, 4)]).first(), Some((0, 6)));
    }

    #[test]
    fn a_range_that_covers_several_replaces_them() {
        let mut ranges = set(&[(0, 2), (4, 6), (8, 10), (20, 22)]);
        assert_eq!(ranges.insert(1, 9), 4);
        assert_eq!(ranges.iter().collect::<Vec<_>>(), [(0, 10), (20, 22)]);
    }

    #[test]
    fn the_front_comes_off_in_pieces() {
        let mut ranges = set(&[(3, 10), (12, 13)]);
        assert_eq!(ranges.take_first(4), Some((3, 7)));
        assert_eq!(ranges.take_first(4), Some((7, 10)));
        assert_eq!(ranges.take_first(4), Some((12, 13)));
        assert_eq!(ranges.take_first(4), None);
        assert_eq!(ranges.covered(), 0);
    }

    proptest! {
        #[test]
        fn behaves_as_a_bitmap(
            inserts in prop::collection::vec((0u64..64, 0u64..16), 0..40),
            removes in prop::collection::vec((0u64..64, 0u64..16), 0..10),
            cut in 0u64..70,
        ) {
            let mut bits = [false; 96];
            let mut ranges = RangeSet::default();
            for (start, len) in inserts {
                let fresh = (start..start + len).filter(|&at| !bits[at as usize]).count() as u64;
                bits[start as usize..(start + len) as usize].fill(true);
                let (new, range) = ranges.insert_and_find(start, start + len);
                prop_assert_eq!(new, fresh);
                if len > 0 {
                    prop_assert_eq!(Some(range), ranges.containing(start));
                }
            }
            ranges.remove_below(cut);
            bits[..cut as usize].fill(false);
            for (start, len) in removes {
                let known = (start..start + len).filter(|&at| bits[at as usize]).count() as u64;
                bits[start as usize..(start + len) as usize].fill(false);
                prop_assert_eq!(ranges.remove(start, start + len), known);
            }
            prop_assert_eq!(ranges.covered(), bits.iter().filter(|&&bit| bit).count() as u64);
            let mut last_end = None;
            for (start, end) in ranges.iter() {
                prop_assert!(start < end && last_end < Some(start));
                prop_assert!(bits[start as usize..end as usize].iter().all(|&bit| bit));
                last_end = Some(end);
            }
            for at in 0..96 {
                let inside = ranges.containing(at).is_some();
                prop_assert_eq!(inside, bits[at as usize]);
            }
        }
    }
}
