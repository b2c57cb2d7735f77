//! Ranges for SACK options.

/// The ranges that most recently grew, newest first (RFC 2018, section 4). Whole ranges are stored: only the
/// one that has just grown changes, so no search is needed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RecentRanges {
    ranges: [(u64, u64); 4],
    len: usize,
}

impl RecentRanges {
    /// Records a range that is new, or has grown and may have merged others. Ranges that begin before `nxt`
    /// are no longer behind a gap.
    pub(crate) fn note(&mut self, grown: (u64, u64), nxt: u64) {
        let mut kept = [grown; 4];
        let mut len = 1;
        for older in self.waiting(nxt) {
            let joined = grown.0 <= older.0 && older.1 <= grown.1;
            if len < kept.len() && !joined {
                kept[len] = older;
                len += 1;
            }
        }
        *self = RecentRanges { ranges: kept, len };
    }

    /// Ranges behind a gap, when `nxt` is the next offset expected.
    #[inline]
    pub(crate) fn waiting(&self, nxt: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let ranges = self.ranges[..self.len].iter().copied();
        ranges.filter(move |range| range.0 > nxt)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::range_set::RangeSet;

    proptest! {
        /// They equal the results of a search for each of the last arrivals, without duplicates.
        #[test]
        fn recent_ranges_equal_search(
            arrivals in prop::collection::vec((2u64..60, 1u64..5, prop::bool::weighted(0.1)), 0..80),
        ) {
            let mut set = RangeSet::default();
            let mut recent = RecentRanges::default();
            let (mut nxt, mut offsets) = (1, Vec::new());
            for (start, len, fills) in arrivals {
                if fills {
                    nxt = set.first().map_or(nxt, |(_, end)| end);
                    set.remove_below(nxt);
                } else if start > nxt && set.insert(start, start + len) > 0 {
                    let grown = set.containing(start).unwrap();
                    recent.note(grown, nxt);
                    offsets.retain(|&other| other > nxt && set.containing(other) != Some(grown));
                    offsets.insert(0, start);
                    offsets.truncate(4);
                }
                let found: Vec<_> = offsets
                    .iter()
                    .filter(|&&offset| offset > nxt)
                    .filter_map(|&offset| set.containing(offset))
                    .collect();
                prop_assert_eq!(recent.waiting(nxt).collect::<Vec<_>>(), found);
            }
        }
    }
}
