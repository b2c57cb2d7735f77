//! Pool of packet buffers, which saves an allocation per packet.

const PER_CHUNK: usize = 256;

#[derive(Debug)]
pub(crate) struct Pool {
    size: usize,
    chunks: Vec<Box<[u8]>>,
    free: Vec<u32>,
}

impl Pool {
    pub(crate) fn new(size: usize) -> Pool {
        Pool {
            size,
            chunks: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Takes a free slot, with its old content.
    pub(crate) fn take(&mut self) -> u32 {
        if self.free.is_empty() {
            let first = (self.chunks.len() * PER_CHUNK) as u32;
            self.chunks
                .push(vec![0; PER_CHUNK * self.size].into_boxed_slice());
            self.free.extend((first..first + PER_CHUNK as u32).rev());
        }
        self.free.pop().expect("slots of a new chunk")
    }

    pub(crate) fn give(&mut self, slot: u32) {
        self.free.push(slot);
    }

    pub(crate) fn slot(&self, slot: u32) -> &[u8] {
        let (chunk, start) = self.place(slot);
        &self.chunks[chunk][start..start + self.size]
    }

    pub(crate) fn slot_mut(&mut self, slot: u32) -> &mut [u8] {
        let (chunk, start) = self.place(slot);
        &mut self.chunks[chunk][start..start + self.size]
    }

    fn place(&self, slot: u32) -> (usize, usize) {
        let slot = slot as usize;
        (slot / PER_CHUNK, slot % PER_CHUNK * self.size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_do_not_overlap_and_come_back() {
        let mut pool = Pool::new(4);
        let slots: Vec<u32> = (0..600).map(|_| pool.take()).collect();
        for &slot in &slots {
            pool.slot_mut(slot).copy_from_slice(&slot.to_ne_bytes());
        }
        for &slot in &slots {
            assert_eq!(pool.slot(slot), slot.to_ne_bytes());
        }
        for &slot in &slots {
            pool.give(slot);
        }
        let chunks = pool.chunks.len();
        for _ in 0..600 {
            pool.take();
        }
        assert_eq!(pool.chunks.len(), chunks);
    }
}
