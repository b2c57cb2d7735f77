//! Sets of subflows, as bit masks.

/// A set of subflow numbers below 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SubflowSet(u64);

impl SubflowSet {
    /// All subflows.
    pub const ALL: SubflowSet = SubflowSet(u64::MAX);
    /// The empty set.
    pub const NONE: SubflowSet = SubflowSet(0);

    /// Returns the set with another member.
    #[must_use]
    pub fn with(self, subflow: usize) -> SubflowSet {
        SubflowSet(self.0 | 1 << subflow)
    }

    /// Adds a member.
    #[inline]
    pub fn insert(&mut self, subflow: usize) {
        self.0 |= 1 << subflow;
    }

    /// Removes a member, if it is one.
    #[inline]
    pub fn remove(&mut self, subflow: usize) {
        self.0 &= !(1 << subflow);
    }

    /// Adds or removes a member.
    #[inline]
    pub fn set(&mut self, subflow: usize, is_member: bool) {
        self.0 = self.0 & !(1 << subflow) | u64::from(is_member) << subflow;
    }

    /// Lowest member.
    #[inline]
    pub fn contains(self, subflow: usize) -> bool {
        self.0 >> subflow & 1 == 1
    }

    /// Its lowest member.
    #[inline]
    pub fn first(self) -> Option<usize> {
        (self.0 != 0).then(|| self.0.trailing_zeros() as usize)
    }

    /// The union with another set.
    #[inline]
    #[must_use]
    pub fn with_all(self, others: SubflowSet) -> SubflowSet {
        SubflowSet(self.0 | others.0)
    }

    /// The intersection with another set.
    #[inline]
    #[must_use]
    pub fn and(self, others: SubflowSet) -> SubflowSet {
        SubflowSet(self.0 & others.0)
    }

    /// The difference to another set.
    #[inline]
    #[must_use]
    pub fn without(self, others: SubflowSet) -> SubflowSet {
        SubflowSet(self.0 & !others.0)
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members in ascending order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            (left != 0).then(|| {
                let lowest = left.trailing_zeros() as usize;
                left &= left - 1;
                lowest
            })
        })
    }
}
