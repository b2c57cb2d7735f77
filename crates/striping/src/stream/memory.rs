//! Memory shared by the streams of an association, beyond each one's guaranteed part.

/// What a stream may always hold, in each direction.
pub(crate) const ALWAYS: u64 = 64 << 10;

/// The unused part of the shared memory, in one direction.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    left: u64,
}

impl Memory {
    pub(crate) fn new(bytes: u64) -> Memory {
        Memory { left: bytes }
    }

    /// Takes this many bytes, or none.
    pub(crate) fn take(&mut self, bytes: u64) -> bool {
        let enough = bytes <= self.left;
        if enough {
            self.left -= bytes;
        }
        enough
    }

    pub(crate) fn give_back(&mut self, bytes: u64) {
        self.left += bytes;
    }

    #[cfg(test)]
    pub(crate) fn left(&self) -> u64 {
        self.left
    }
}

/// A stream's share of the send memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    taken: u64,
}

impl Share {
    /// How much the stream may hold, if it could hold `most` alone.
    pub(crate) fn bound(self, most: u64, memory: &Memory) -> u64 {
        most.min(ALWAYS + self.taken + memory.left)
    }

    /// The stream holds `held` bytes now, at most its bound.
    pub(crate) fn settle(&mut self, held: u64, memory: &mut Memory) {
        let needed = held.saturating_sub(ALWAYS);
        memory.left = memory.left + self.taken - needed;
        self.taken = needed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_holds_others_may_not() {
        let mut memory = Memory::new(1000);
        let (mut one, mut other) = (Share::default(), Share::default());
        assert_eq!(one.bound(u64::MAX, &memory), ALWAYS + 1000);
        one.settle(ALWAYS + 800, &mut memory);
        assert_eq!(one.bound(u64::MAX, &memory), ALWAYS + 1000);
        assert_eq!(other.bound(u64::MAX, &memory), ALWAYS + 200);
        assert_eq!(other.bound(500, &memory), 500);
        other.settle(ALWAYS / 2, &mut memory);
        assert_eq!(memory.left(), 200);
        one.settle(0, &mut memory);
        assert_eq!(memory.left(), 1000);
    }
}
