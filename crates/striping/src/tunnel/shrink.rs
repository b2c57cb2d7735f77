//! Memory of queues that were long.

use std::collections::VecDeque;

/// Queues keep memory for this many items.
const KEPT: usize = 256;

/// Frees memory that a queue no longer needs. Call it after removing items. The queue is moved once it is an
/// eighth full, so that an item costs constant work.
pub(super) fn shrink<T>(queue: &mut VecDeque<T>) {
    let room = queue.capacity();
    if room > KEPT && queue.len() < room / 8 {
        queue.shrink_to(room / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drained_queue_frees_memory() {
        let mut queue: VecDeque<u64> = (0..100_000).collect();
        while queue.pop_front().is_some() {
            shrink(&mut queue);
            assert!(queue.capacity() <= KEPT.max(16 * queue.len() + 16) || queue.len() > 8192);
        }
        assert!(queue.capacity() <= KEPT);
    }
}
