//! Independent parts of a run: flows that share no link with others.
//!
//! A part does not depend on the others, so it may be ahead of them. It then stays in the processor's
//! caches. Parts that alternate at every packet would miss them for nearly all data of a packet.

use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) flows: Range<usize>,
    pub(crate) hops: Range<usize>,
}

/// Divides flows with these hops into parts, each ascending in flows and hops. Flows and hops numbered
/// otherwise stay together, which is never wrong.
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
    fn unordered_hops_stay_in_one_part() {
        assert_eq!(flows_of(&[4..6, 0..2, 6..8]), [0..2, 2..3]);
    }
}
