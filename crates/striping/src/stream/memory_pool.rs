//! Memory shared by the streams of an association, beyond each one's guaranteed part.

/// Bytes that a stream may always hold, in each direction.
pub(crate) const GUARANTEED: u64 = 64 << 10;

/// Bytes that a stream may queue while memory is short.
const WHEN_SHORT: u64 = 4 << 10;

/// The unused part of the shared memory, in one direction.
#[derive(Clone, Debug)]
pub(crate) struct MemoryPool {
    pub(crate) left: u64,
    is_short: bool,
}

impl MemoryPool {
    pub(crate) fn new(bytes: u64) -> MemoryPool {
        MemoryPool {
            left: bytes,
            is_short: false,
        }
    }

    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        let enough = bytes <= self.left && !self.is_short;
        if enough {
            self.left -= bytes;
        }
        enough
    }

    pub(crate) fn set_short(&mut self, is_short: bool) {
        self.is_short = is_short;
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MemoryShare {
    taken: u64,
}

impl MemoryShare {
    /// Limit of a stream that could hold `most` bytes alone.
    pub(crate) fn bound(self, most: u64, memory: &MemoryPool) -> u64 {
        match memory.is_short {
            true => most.min(WHEN_SHORT),
            false => most.min(GUARANTEED + self.taken + memory.left),
        }
    }

    /// Accounts for `held` bytes, at most its limit.
    pub(crate) fn settle(&mut self, held: u64, memory: &mut MemoryPool) {
        let needed = held.saturating_sub(GUARANTEED);
        memory.left = memory.left + self.taken - needed;
        self.taken = needed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_memory_limits_queues_and_windows() {
        let mut memory = MemoryPool::new(1000);
        memory.set_short(true);
        assert!(!memory.take(1));
        assert_eq!(MemoryShare::default().bound(u64::MAX, &memory), WHEN_SHORT);
        memory.set_short(false);
        assert!(memory.take(1));
    }

    #[test]
    fn memory_of_one_stream_is_unavailable_to_others() {
        let mut memory = MemoryPool::new(1000);
        let (mut one, mut other) = (MemoryShare::default(), MemoryShare::default());
        assert_eq!(one.bound(u64::MAX, &memory), GUARANTEED + 1000);
        one.settle(GUARANTEED + 800, &mut memory);
        assert_eq!(one.bound(u64::MAX, &memory), GUARANTEED + 1000);
        assert_eq!(other.bound(u64::MAX, &memory), GUARANTEED + 200);
        assert_eq!(other.bound(500, &memory), 500);
        other.settle(GUARANTEED / 2, &mut memory);
        assert_eq!(memory.left, 200);
        one.settle(0, &mut memory);
        assert_eq!(memory.left, 1000);
    }
}
