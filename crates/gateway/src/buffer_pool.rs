//! Pool of read buffers, which are passed on in slices and reused once all slices are dropped.
//!
//! Fresh memory costs a page fault every 4 KiB: nearly half of a carrier's time without the pool.

use std::sync::Arc;

use bytes::BytesMut;

use crate::budget::Budget;

/// Size of a buffer: several records, so that few are split and moved.
const SIZE: usize = 256 << 10;

/// A buffer with less free space counts as full.
const MIN: usize = SIZE / 8;

/// Maximum number of buffers kept: as many as a stream's window fills while its reader is slow.
const KEPT: usize = 16;

/// A buffer in use, and full ones that may be reused.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    current: BytesMut,
    /// The first buffer is in use.
    is_begun: bool,
    /// Full buffers, the oldest first: an empty handle of each, which shows whether all slices are dropped.
    /// The newest unused one is reused first, since more of it is still in the processor's cache.
    full: Vec<BytesMut>,
    budget: Option<Arc<Budget>>,
    counted: u64,
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.change(self.counted, 0);
        }
    }
}

impl BufferPool {
    /// Counts the buffers in a budget from now on.
    pub(crate) fn count_in(&mut self, budget: Arc<Budget>) {
        self.budget = Some(budget);
        self.count();
    }

    fn count(&mut self) {
        if let Some(budget) = &self.budget {
            let bytes = ((1 + self.full.len()) * SIZE) as u64;
            budget.change(std::mem::replace(&mut self.counted, bytes), bytes);
        }
    }

    pub(crate) fn space(&mut self) -> &mut BytesMut {
        if self.is_half_used() {
            self.release_memory();
        }
        if self.current.capacity() - self.current.len() < MIN {
            let mut next = self.unused();
            next.extend_from_slice(&self.current);
            let mut full = std::mem::replace(&mut self.current, next);
            full.clear();
            if self.full.len() < KEPT && self.is_begun {
                self.full.push(full);
            }
            self.is_begun = true;
            self.count();
        }
        &mut self.current
    }

    pub(crate) fn current(&mut self) -> &mut BytesMut {
        &mut self.current
    }

    /// Whether to copy slices, which keep their whole buffer in use: enough are kept, or memory is short.
    pub(crate) fn should_copy(&self) -> bool {
        self.full.len() >= KEPT || self.is_half_used()
    }

    fn is_half_used(&self) -> bool {
        let budget = self.budget.as_ref();
        budget.is_some_and(|budget| budget.is_half_used())
    }

    pub(crate) fn has_full(&self) -> bool {
        !self.full.is_empty()
    }

    /// Frees the full buffers whose slices are all dropped.
    pub(crate) fn release_memory(&mut self) {
        self.full.retain_mut(|full| !full.try_reclaim(SIZE));
        self.count();
    }

    fn unused(&mut self) -> BytesMut {
        for at in (0..self.full.len()).rev() {
            if self.full[at].try_reclaim(SIZE) {
                return self.full.remove(at);
            }
        }
        BytesMut::with_capacity(SIZE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(buffers: &mut BufferPool) -> BytesMut {
        let space = buffers.space();
        let room = space.capacity() - space.len();
        space.resize(space.len() + room, 1);
        space.split()
    }

    #[test]
    fn buffer_is_reused_once_its_slices_are_dropped() {
        let mut buffers = BufferPool::default();
        let first = take(&mut buffers);
        let place = first.as_ptr();
        assert_ne!(buffers.space().as_ptr(), place);
        drop(first);
        let second = take(&mut buffers);
        assert_eq!(buffers.space().as_ptr(), place);
        drop(second);
    }

    #[test]
    fn unread_bytes_move_to_the_next_buffer() {
        let mut buffers = BufferPool::default();
        drop(take(&mut buffers));
        let space = buffers.space();
        space.resize(space.capacity() - 1, 7);
        let len = space.len();
        assert_eq!(space.split_to(len - 3).len(), len - 3);
        assert_eq!(buffers.space()[..], [7; 3]);
        assert_eq!(buffers.space().capacity(), SIZE);
    }

    #[test]
    fn buffers_are_counted_and_crowded_while_memory_is_short() {
        let budget = Arc::new(Budget::new(16 * SIZE as u64));
        let mut buffers = BufferPool::default();
        buffers.count_in(Arc::clone(&budget));
        assert_eq!(budget.used(), SIZE as u64);
        let stay: Vec<BytesMut> = (0..10).map(|_| take(&mut buffers)).collect();
        assert!(buffers.should_copy());
        assert!(budget.used() > 8 * SIZE as u64, "{}", budget.used());
        drop((buffers, stay));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn unused_buffers_are_freed_when_memory_is_short() {
        let budget = Arc::new(Budget::new(16 * SIZE as u64));
        let mut buffers = BufferPool::default();
        buffers.count_in(Arc::clone(&budget));
        let stay: Vec<BytesMut> = (0..10).map(|_| take(&mut buffers)).collect();
        assert!(budget.is_half_used());
        drop(stay);
        buffers.space();
        assert_eq!(budget.used(), 2 * SIZE as u64);
        // Without memory pressure, buffers are kept for reuse until the owner frees them.
        let stay: Vec<BytesMut> = (0..5).map(|_| take(&mut buffers)).collect();
        drop(stay);
        buffers.space();
        assert!(budget.used() > SIZE as u64 && buffers.has_full());
        buffers.release_memory();
        assert_eq!((budget.used(), buffers.has_full()), (SIZE as u64, false));
    }

    #[test]
    fn slices_that_stay_do_not_pile_up_buffers() {
        let mut buffers = BufferPool::default();
        let stay: Vec<BytesMut> = (0..3 * KEPT).map(|_| take(&mut buffers)).collect();
        assert_eq!(buffers.full.len(), KEPT);
        drop(stay);
    }
}
