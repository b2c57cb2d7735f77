//! Reorder buffer-occupancy density (RBD) of RFC 5236.

use std::collections::BTreeSet;

/// Occupancy, after each arrival, of a buffer that restores the order.
///
/// This is the algorithm of section 7.2, except one case in which its pseudocode and its definitions
/// differ. When the buffer is full and the expected packet is given up, the arrival may still be early. The
/// pseudocode forgets it; section 3.8, and this code, store every early packet.
#[derive(Clone, Debug)]
pub(crate) struct BufferDensity {
    /// BT.
    threshold: usize,
    /// E: all packets before it have arrived, or are given up.
    expected: u64,
    buffer: BTreeSet<u64>,
    /// FB, from 0 to BT.
    counts: Vec<u64>,
}

impl BufferDensity {
    pub(crate) fn new(threshold: u32) -> BufferDensity {
        BufferDensity {
            threshold: threshold as usize,
            expected: 0,
            buffer: BTreeSet::new(),
            counts: vec![0; threshold as usize + 1],
        }
    }

    /// Records the arrival of a packet; one that arrived before, or was given up, changes nothing.
    #[inline]
    pub(crate) fn arrival(&mut self, number: u64) {
        if number == self.expected && self.buffer.is_empty() {
            self.expected += 1;
            self.counts[0] += 1;
        } else if number >= self.expected && self.buffer.insert(number) {
            if self.buffer.len() > self.threshold
                && let Some(&least) = self.buffer.first()
            {
                self.expected = least;
            }
            while self.buffer.remove(&self.expected) {
                self.expected += 1;
            }
            self.counts[self.buffer.len()] += 1;
        }
    }

    /// Returns RBD: the fraction of arrivals by buffer occupancy, from 0 on.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let total: u64 = self.counts.iter().sum();
        let used = self.counts.iter().rposition(|&count| count > 0);
        let used = used.map_or(0, |last| last + 1);
        let shares = self.counts[..used].iter();
        shares.map(|&count| count as f64 / total as f64).collect()
    }
}
