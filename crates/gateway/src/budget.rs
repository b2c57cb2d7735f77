//! Memory budget of a client, over all that it uses here.

use std::sync::atomic::{AtomicU64, Ordering};

/// Memory limit, and memory in use as reported by users, which free memory beyond the limit.
#[derive(Debug)]
pub struct Budget {
    most: AtomicU64,
    used: AtomicU64,
}

#[derive(Debug)]
pub struct HeldMemory<'a> {
    budget: &'a Budget,
    bytes: u64,
}

impl Budget {
    pub fn new(most: u64) -> Budget {
        Budget {
            most: AtomicU64::new(most),
            used: AtomicU64::new(0),
        }
    }

    pub fn set_limit(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Counts `bytes` until the returned value is dropped.
    #[must_use]
    pub fn hold(&self, bytes: u64) -> HeldMemory<'_> {
        self.change(0, bytes);
        HeldMemory {
            budget: self,
            bytes,
        }
    }

    /// Reports that a user's memory changed from `before` to `after` bytes.
    pub fn change(&self, before: u64, after: u64) {
        let change = after.wrapping_sub(before);
        self.used.fetch_add(change, Ordering::Relaxed);
    }

    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    pub fn is_half_used(&self) -> bool {
        self.used() > self.most.load(Ordering::Relaxed) / 2
    }

    pub fn excess(&self) -> u64 {
        self.used()
            .saturating_sub(self.most.load(Ordering::Relaxed))
    }
}

impl Drop for HeldMemory<'_> {
    fn drop(&mut self) {
        self.budget.change(self.bytes, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budget_counts_what_is_held() {
        let budget = Budget::new(1000);
        let held = budget.hold(400);
        assert!(!budget.is_half_used());
        budget.change(0, 700);
        assert_eq!((budget.used(), budget.excess()), (1100, 100));
        budget.change(700, 50);
        assert_eq!((budget.used(), budget.excess()), (450, 0));
        budget.set_limit(100);
        assert!(budget.is_half_used());
        drop(held);
        assert_eq!(budget.used(), 50);
    }
}
