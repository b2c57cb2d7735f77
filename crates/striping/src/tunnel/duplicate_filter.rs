//! Filter that drops copies of packets that have arrived.

use ropewalk_wire::gateway::tunnel::Sequencing;

use super::replay::ReplayWindow;

/// Packets of each lane within a window; anything older counts as a duplicate.
#[derive(Debug, Default)]
pub(super) struct DuplicateFilter(Vec<Option<Box<LaneWindow>>>);

#[derive(Debug, Default)]
struct LaneWindow {
    window: ReplayWindow,
    newest: u64,
}

impl DuplicateFilter {
    /// Adds a packet; returns whether it is the first with its lane and sequence.
    pub(super) fn take(&mut self, sequencing: Sequencing) -> bool {
        let number = usize::from(sequencing.lane);
        if self.0.len() <= number {
            self.0.resize_with(number + 1, || None);
        }
        let lane = self.0[number].get_or_insert_default();
        // Only the low 32 bits of its sequence are transmitted.
        let ahead = sequencing.sequence.wrapping_sub(lane.newest as u32) as i32;
        let Some(sequence) = lane.newest.checked_add_signed(ahead.into()) else {
            return false;
        };
        lane.newest = lane.newest.max(sequence);
        lane.window.take(sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ropewalk_wire::gateway::tunnel::Delivery;
    use std::collections::HashSet;

    fn sequencing(lane: u8, sequence: u32) -> Sequencing {
        Sequencing {
            lane,
            sequence,
            delivery: Delivery::InOrder,
        }
    }

    #[test]
    fn each_sequence_is_accepted_once_beyond_32_bits() {
        let mut filter = DuplicateFilter::default();
        assert!(filter.take(sequencing(0, 0)) && filter.take(sequencing(255, 0)));
        assert!(!filter.take(sequencing(0, 0)) && !filter.take(sequencing(255, 0)));
        let mut filter = DuplicateFilter::default();
        for sequence in [0, 1 << 30, 1 << 31, 3 << 30, u32::MAX, 0, 1, u32::MAX - 1] {
            assert!(filter.take(sequencing(1, sequence)), "{sequence}");
            assert!(!filter.take(sequencing(1, sequence)), "{sequence}");
        }
    }

    proptest! {
        #[test]
        fn no_sequence_is_accepted_twice(sequences in prop::collection::vec((0u8..3, 0u32..5000), 0..500)) {
            let (mut filter, mut taken) = (DuplicateFilter::default(), HashSet::new());
            for (lane, sequence) in sequences {
                if filter.take(sequencing(lane, sequence)) {
                    prop_assert!(taken.insert((lane, sequence)));
                }
            }
        }
    }
}
