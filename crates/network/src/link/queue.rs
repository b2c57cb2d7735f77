//! The queue of a link.

use std::collections::VecDeque;

use ropewalk_quantities::{Bytes, Time};

use crate::config::{Capacity, QueueLimit};

/// A drop-tail queue that stores only the sizes of packets, and when each leaves it.
///
/// The packet being transmitted is not in the queue, as in ns-3's drop-tail queue before a device, and in
/// mahimahi's.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    most_packets: u64,
    most_bytes: u64,
    bytes: u64,
    waiting: VecDeque<Waiting>,
}

/// Content of a queue, and when its first packet will be transmitted.
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
    /// The queue for `capacity` of a link with this round trip.
    ///
    /// With a trace, a packet waits for its first opportunity even if the link is idle, so there is room for
    /// at least one, whatever the limit.
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

    /// Accepts a packet that will be transmitted at `until`, if there is room.
    #[inline]
    pub(crate) fn admit(&mut self, now: Time, until: Time, size: u32) -> bool {
        if !self.has_room(now, size) {
            return false;
        }
        self.bytes += u64::from(size);
        self.waiting.push_back(Waiting { until, size });
        true
    }

    /// Whether there is room for another packet.
    #[inline]
    pub(crate) fn has_room(&mut self, now: Time, size: u32) -> bool {
        self.release(now);
        let bytes = self.bytes + u64::from(size);
        (self.waiting.len() as u64) < self.most_packets && bytes <= self.most_bytes
    }

    /// The content at `now`.
    pub(crate) fn backlog(&mut self, now: Time) -> Backlog {
        self.release(now);
        Backlog {
            packets: self.waiting.len() as u64,
            bytes: Bytes::new(self.bytes),
            next_start: self.waiting.front().map(|front| front.until),
        }
    }

    /// Loses everything queued.
    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
        self.bytes = 0;
    }

    /// Removes packets whose transmission has begun by `now`.
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
