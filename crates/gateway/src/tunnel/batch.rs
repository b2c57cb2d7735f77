//! Datagrams of a link that are sent in one call (UDP GSO): all but the last have the same length.

/// Longest batch. A UDP datagram has at most 65 507 bytes, and the kernel counts all segments as one.
const MAX_BYTES: usize = 62_000;
/// UDP_MAX_SEGMENTS of older kernels (include/linux/udp.h).
const MAX_SEGMENTS: usize = 64;

#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Length of all datagrams but the last.
    segment: usize,
}

impl Batch {
    /// Begins a datagram; returns its offset.
    pub fn begin(&mut self) -> usize {
        self.bytes.len()
    }

    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Ends the datagram that began at `start`. Calls `send` with the bytes and the segment length of each
    /// full batch.
    pub fn end(&mut self, start: usize, mut send: impl FnMut(&[u8], usize)) {
        let len = self.bytes.len() - start;
        if start == 0 {
            self.segment = len;
        } else if len > self.segment {
            send(&self.bytes[..start], self.segment);
            self.bytes.drain(..start);
            self.segment = len;
        }
        let full = self.bytes.len() + self.segment > MAX_BYTES
            || self.bytes.len() >= MAX_SEGMENTS * self.segment;
        if len < self.segment || full {
            self.flush(send);
        }
    }

    pub fn flush(&mut self, mut send: impl FnMut(&[u8], usize)) {
        if !self.bytes.is_empty() {
            send(&self.bytes, self.segment);
            self.bytes.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(lengths: &[usize]) -> Vec<(usize, usize)> {
        let (mut batch, mut sent) = (Batch::default(), Vec::new());
        for &len in lengths {
            let start = batch.begin();
            batch.bytes().resize(start + len, 0);
            batch.end(start, |bytes, segment| sent.push((bytes.len(), segment)));
        }
        batch.flush(|bytes, segment| sent.push((bytes.len(), segment)));
        sent
    }

    #[test]
    fn batch_has_equal_lengths_except_the_last() {
        assert_eq!(batches(&[100, 100, 50, 100]), [(250, 100), (100, 100)]);
        assert_eq!(batches(&[50, 100, 100]), [(50, 50), (200, 100)]);
        assert_eq!(batches(&[1500; 60]), [(61_500, 1500), (28_500, 1500)]);
        assert_eq!(batches(&[100; 65]), [(6400, 100), (100, 100)]);
    }
}
