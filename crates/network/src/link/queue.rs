//! Queue of a link.

use std::collections::VecDeque;

use ropewalk_quantities::{Bytes, Time};

use crate::config::{Capacity, QueueLimit};

/// Drop-tail queue that stores only the size and departure time of each packet.
///
/// It does not hold the packet being transmitted, as ns-3's drop-tail queue before a device and mahimahi's.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    most_packets: u64,
    most_bytes: u64,
    bytes: u64,
    waiting: VecDeque<Waiting>,
}

/// Content of a queue, and the end of the current transmission.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    pub(crate) packets: u64,
    pub(crate) bytes: Bytes,
    pub(crate) next_start: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    until: Time,
    size: u32,
}

impl Queue {
    /// Creates the queue of a link with this capacity and round-trip time.
    ///
    /// With a trace, a packet waits for its first opportunity even on an idle link, so the queue holds at
    /// least one.
    pub(crate) fn new(limit: QueueLimit, capacity: &Capacity, round_trip: Time) -> Queue {
        let (mut most_packets, mut most_bytes) = match limit {
            QueueLimit::Packets(packets) => (packets, u64::MAX),
            QueueLimit::Bytes(_) | QueueLimit::Bdp(_) => {
                (u64::MAX, limit.bytes(capacity, round_trip).as_u64())
            }
        };
        if matches!(capacity, Capacity::Trace(_)) {
            most_packets = most_packets.max(1);
            most_bytes = most_bytes.max(1500);
        }
        Queue {
            most_packets,
            most_bytes,
            bytes: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Accepts a packet that will be transmitted at `until`, if the queue is not full.
    #[inline]
    pub(crate) fn admit(&mut self, now: Time, until: Time, size: u32) -> bool {
        if !self.has_space(now, size) {
            return false;
        }
        self.bytes += u64::from(size);
        self.waiting.push_back(Waiting { until, size });
        true
    }

    #[inline]
    pub(crate) fn has_space(&mut self, now: Time, size: u32) -> bool {
        self.release(now);
        let bytes = self.bytes + u64::from(size);
        (self.waiting.len() as u64) < self.most_packets && bytes <= self.most_bytes
    }

    pub(crate) fn backlog(&mut self, now: Time) -> Backlog {
        self.release(now);
        Backlog {
            packets: self.waiting.len() as u64,
            bytes: Bytes::new(self.bytes),
            next_start: self.waiting.front().map(|front| front.until),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }

    /// Removes packets whose transmission began by `now`.
    #[inline]
    fn release(&mut self, now: Time) {
        while let Some(front) = self.waiting.front() {
            if front.until > now {
                break;
            }
            self.bytes -= u64::from(front.size);
            self.waiting.pop_front();
        }
    }
}
