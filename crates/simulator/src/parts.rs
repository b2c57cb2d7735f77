//! Parts of a world that have nothing to do with each other: flows that share no link with others.
//!
//! What happens in one part does not depend on what happens in another, so a part may be ahead of others. It
//! then stays in the processor's caches, whereas parts that take turns at every packet miss them for nearly
//! all that a packet reads.

use std::ops::Range;

/// Successive flows, and the hops of their packets, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) flows: Range<usize>,
    pub(crate) hops: Range<usize>,
}

/// The parts of a world in which the flows have these hops, each in ascending order of flows and of hops.
/// What is numbered otherwise stays together, which is never wrong.
pub(crate) fn parts(hops_of_flows: impl Iterator<Item = Range<usize>>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for (flow, mut hops) in hops_of_flows.enumerate() {
        let mut first = flow;
        while let Some(last) = parts.pop_if(|last| hops.start < last.hops.end) {
            first = last.flows.start;
            hops = hops.start.min(last.hops.start)..hops.end.max(last.hops.end);
        }
        parts.push(Part {
            flows: first..flow + 1,
            hops,
        });
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flows_of(hops: &[Range<usize>]) -> Vec<Range<usize>> {
        let parts = parts(hops.iter().cloned()).into_iter();
        parts.map(|part| part.flows).collect()
    }

    #[test]
    fn flows_that_share_a_hop_are_one_part() {
        assert_eq!(flows_of(&[0..2, 2..4, 4..6]), [0..1, 1..2, 2..3]);
        assert_eq!(flows_of(&[0..2, 0..2, 2..4]), [0..2, 2..3]);
        assert_eq!(flows_of(&[0..2, 2..4, 3..6]), [0..1, 1..3]);
        assert_eq!(flows_of(&[0..2, 2..4, 4..6, 1..5]).len(), 1);
    }

    #[test]
    fn what_is_not_in_order_stays_together() {
        assert_eq!(flows_of(&[4..6, 0..2, 6..8]), [0..2, 2..3]);
    }
}
