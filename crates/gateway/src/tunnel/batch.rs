//! Datagrams of a link that leave in one call (UDP GSO): all but the last of one length.

/// Bytes of a batch: a UDP datagram may have 65 507, of which the kernel's segmentation counts all.
const MOST_BYTES: usize = 62_000;
/// UDP_MAX_SEGMENTS of older kernels (include/linux/udp.h).
const MOST_SEGMENTS: usize = 64;

/// Datagrams in a row.
#[derive(Debug, Default)]
pub struct Batch {
    bytes: Vec<u8>,
    /// Length of each but the last.
    segment: usize,
}

impl Batch {
    /// A datagram begins: where.
    pub fn begin(&mut self) -> usize {
        self.bytes.len()
    }

    /// Where it is appended.
    pub fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The datagram that began at `start` is whole; `send` gets bytes and the length of a segment
    /// if nothing can be added to them.
    pub fn end(&mut self, start: usize, mut send: impl FnMut(&[u8], usize)) {
        let len = self.bytes.len() - start;
        if start == 0 {
            self.segment = len;
        } else if len > self.segment {
            send(&self.bytes[..start], self.segment);
            self.bytes.drain(..start);
            self.segment = len;
        }
        let full = self.bytes.len() + self.segment > MOST_BYTES
            || self.bytes.len() >= MOST_SEGMENTS * self.segment;
        if len < self.segment || full {
            self.flush(send);
        }
    }

    /// Sends what there is.
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
    fn all_but_the_last_of_a_batch_are_of_one_length() {
        assert_eq!(batches(&[100, 100, 50, 100]), [(250, 100), (100, 100)]);
        assert_eq!(batches(&[50, 100, 100]), [(50, 50), (200, 100)]);
        assert_eq!(batches(&[1500; 60]), [(61_500, 1500), (28_500, 1500)]);
        assert_eq!(batches(&[100; 65]), [(6400, 100), (100, 100)]);
    }
}
