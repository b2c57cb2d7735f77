//! Sets of subflows, as bit masks.

/// A set of subflow numbers below 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SubflowSet(u64);

impl SubflowSet {
    /// All subflows.
    pub const ALL: SubflowSet = SubflowSet(u64::MAX);
    /// The empty set.
    pub const NONE: SubflowSet = SubflowSet(0);

    /// With another member.
    #[must_use]
    pub fn with(self, subflow: usize) -> SubflowSet {
        SubflowSet(self.0 | 1 << subflow)
    }

    /// The union with another set.
    #[inline]
    #[must_use]
    pub fn with_all(self, others: SubflowSet) -> SubflowSet {
        SubflowSet(self.0 | others.0)
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its members, in ascending order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        members(self.0)
    }
}

/// The numbers of the bits that are set, lowest first.
#[inline]
pub(crate) fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let lowest = set.trailing_zeros() as usize;
            set &= set - 1;
            lowest
        })
    })
}
