//! The sender's main buffer, from which packets are cut.

use crate::Header;

/// A packet: its header, and how many bytes of the stream follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What stands before it.
    pub header: Header,
    /// Bytes of payload, at least one.
    pub len: u32,
}

impl Packet {
    /// Bytes that it takes of a connection.
    #[must_use]
    pub fn wire_len(&self) -> u64 {
        Header::LEN + u64::from(self.len)
    }
}

/// Bounds what waits for a connection, and cuts it into packets.
///
/// A packet is cut when a connection has room for it: it is full if enough waits,
/// and does not wait for more if not.
#[derive(Clone, Debug)]
pub struct Splitter {
    association: u32,
    /// Payload of a full packet.
    full: u32,
    capacity: u64,
    waiting: u64,
    /// Number of the next packet.
    next: u64,
    closed: bool,
}

impl Splitter {
    /// Cuts packets of `full` bytes out of a buffer of `capacity` bytes, which holds at least one.
    #[must_use]
    pub fn new(association: u32, full: u32, capacity: u64) -> Splitter {
        let full = full.max(1);
        Splitter {
            association,
            full,
            capacity: capacity.max(u64::from(full)),
            waiting: 0,
            next: 0,
            closed: false,
        }
    }

    /// The application writes up to `most` bytes; says how many the buffer took.
    pub fn write(&mut self, most: u64) -> u64 {
        if self.closed {
            return 0;
        }
        let taken = most.min(self.capacity - self.waiting);
        self.waiting += taken;
        taken
    }

    /// The application will write no more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Bytes that wait for a connection.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// All is cut, and there will be no more.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.closed && self.waiting == 0
    }

    /// Cuts the next packet, if anything waits.
    pub fn cut(&mut self) -> Option<Packet> {
        let len = self.waiting.min(u64::from(self.full)) as u32;
        if len == 0 {
            return None;
        }
        self.waiting -= u64::from(len);
        let header = Header {
            association: self.association,
            sequence: self.next as u32,
        };
        self.next += 1;
        Some(Packet { header, len })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_are_full_but_the_last() {
        let mut splitter = Splitter::new(7, 2048, 5000);
        assert_eq!(splitter.write(u64::MAX), 5000);
        assert_eq!(splitter.write(1), 0);
        let packet = splitter.cut().unwrap();
        assert_eq!((packet.header.sequence, packet.len), (0, 2048));
        assert_eq!((packet.header.association, packet.wire_len()), (7, 2056));
        assert_eq!(splitter.write(10_000), 2048);
        splitter.close();
        assert_eq!(splitter.write(1), 0);
        let rest: Vec<u32> =
            std::iter::from_fn(|| splitter.cut().map(|packet| packet.len)).collect();
        assert_eq!(rest, [2048, 2048, 904]);
        assert!(splitter.is_done());
    }

    #[test]
    fn numbers_wrap() {
        let mut splitter = Splitter::new(0, 10, 30);
        splitter.next = u64::from(u32::MAX);
        splitter.write(30);
        let numbers = [(); 3].map(|()| splitter.cut().unwrap().header.sequence);
        assert_eq!(numbers, [u32::MAX, 0, 1]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_cut_once_and_never_more_than_the_buffer_waits(
            full in 1u32..3000,
            capacity in 1u64..20_000,
            steps in prop::collection::vec((any::<bool>(), 0u64..9000), 0..200),
        ) {
            let mut splitter = Splitter::new(1, full, capacity);
            let (mut written, mut cut, mut count) = (0, 0, 0);
            for (write, most) in steps {
                if write {
                    written += splitter.write(most);
                } else if let Some(packet) = splitter.cut() {
                    prop_assert!(packet.len >= 1 && packet.len <= full);
                    prop_assert!(packet.len == full || splitter.waiting() == 0);
                    prop_assert_eq!(packet.header.sequence, count);
                    count += 1;
                    cut += u64::from(packet.len);
                }
                prop_assert_eq!(written, cut + splitter.waiting());
                prop_assert!(splitter.waiting() <= capacity.max(u64::from(full)));
            }
        }
    }
}
