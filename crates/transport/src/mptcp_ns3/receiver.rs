//! The receiver, which acknowledges only data in order both on the subflow and in the stream.

use std::collections::{BTreeMap, VecDeque};

use ropewalk_quantities::Time;

use super::{Ack, Data, Policy};

/// Next expected numbers of both levels, and the store of segments ahead of the stream.
#[derive(Debug)]
pub struct Receiver {
    policy: Policy,
    next: u64,
    store: BTreeMap<u64, Stored>,
    stored_bytes: u64,
    stored_bytes_max: u64,
    stored_segments_max: usize,
    delivered: u64,
    /// Segments with new data, and how many of them were stored.
    arrived: u64,
    waited: u64,
    subflows: Vec<SubflowReceiver>,
    acks: VecDeque<Ack>,
}

#[derive(Clone, Copy, Debug)]
struct Stored {
    subflow: usize,
    number: u64,
    len: u32,
    stamp: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct SubflowReceiver {
    next: u64,
    delivered: u64,
    duplicates: u64,
}

impl Receiver {
    /// Creates a receiver with this many subflows.
    #[must_use]
    pub fn new(policy: Policy, subflows: usize) -> Receiver {
        Receiver {
            policy,
            next: 0,
            store: BTreeMap::new(),
            stored_bytes: 0,
            stored_bytes_max: 0,
            stored_segments_max: 0,
            delivered: 0,
            arrived: 0,
            waited: 0,
            subflows: vec![SubflowReceiver::default(); subflows],
            acks: VecDeque::new(),
        }
    }

    /// Handles a data segment; returns the number of bytes delivered as a result.
    pub fn handle(&mut self, segment: &Data) -> u64 {
        let before = self.delivered;
        let expected = self.subflows[segment.subflow].next;
        if segment.number < expected || segment.data < self.next {
            self.subflows[segment.subflow].duplicates += 1;
            self.acknowledge(segment.subflow, segment.stamp, None);
        } else if segment.data > self.next {
            let news = self.keep(segment);
            // The D-SACK policy reports everything that is ahead, and the Eifel policy acknowledges every
            // segment; otherwise only segments out of order on their subflow are answered, once.
            let report = (self.policy == Policy::Dsack).then(|| self.report(segment.data));
            let answers = match self.policy {
                Policy::Dsack | Policy::Eifel => true,
                Policy::None | Policy::FRto | Policy::TcpDoor => news && segment.number > expected,
            };
            if answers {
                self.acknowledge(segment.subflow, segment.stamp, report);
            }
        } else {
            self.arrived += 1;
            self.deliver(segment.subflow, segment.len);
            self.walk();
            self.acknowledge(segment.subflow, segment.stamp, None);
        }
        self.delivered - before
    }

    /// Returns the next acknowledgement to send.
    pub fn poll_ack(&mut self) -> Option<Ack> {
        self.acks.pop_front()
    }

    fn keep(&mut self, segment: &Data) -> bool {
        let stored = Stored {
            subflow: segment.subflow,
            number: segment.number,
            len: segment.len,
            stamp: segment.stamp,
        };
        if self.store.insert(segment.data, stored).is_some() {
            self.subflows[segment.subflow].duplicates += 1;
            return false;
        }
        self.arrived += 1;
        self.waited += 1;
        self.stored_bytes += u64::from(segment.len);
        self.stored_bytes_max = self.stored_bytes_max.max(self.stored_bytes);
        self.stored_segments_max = self.stored_segments_max.max(self.store.len());
        true
    }

    /// Delivers stored segments that are in order now, with an acknowledgement for each.
    fn walk(&mut self) {
        while let Some(entry) = self.store.first_entry()
            && *entry.key() <= self.next
            && entry.get().number == self.subflows[entry.get().subflow].next
        {
            let stored = entry.remove();
            self.stored_bytes -= u64::from(stored.len);
            self.deliver(stored.subflow, stored.len);
            self.acknowledge(stored.subflow, stored.stamp, None);
        }
    }

    fn deliver(&mut self, subflow: usize, len: u32) {
        let arrivals = &mut self.subflows[subflow];
        arrivals.next += 1;
        arrivals.delivered += u64::from(len);
        self.next += 1;
        self.delivered += u64::from(len);
    }

    fn acknowledge(&mut self, subflow: usize, echo: Time, report: Option<[(u64, u64); 2]>) {
        self.acks.push_back(Ack {
            subflow,
            next: self.subflows[subflow].next,
            echo,
            report,
        });
    }

    fn report(&self, data: u64) -> [(u64, u64); 2] {
        let mut numbers = self.store.keys().copied();
        let start = numbers.next().unwrap_or(data);
        let rest = numbers.zip(start + 1..);
        let end = start + 1 + rest.take_while(|(number, next)| number == next).count() as u64;
        [(data, data + 1), (start, end)]
    }

    /// Bytes delivered in order.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Bytes delivered in order from this subflow.
    #[must_use]
    pub fn delivered_by(&self, subflow: usize) -> u64 {
        self.subflows[subflow].delivered
    }

    /// Segments of this subflow without new data.
    #[must_use]
    pub fn duplicates(&self, subflow: usize) -> u64 {
        self.subflows[subflow].duplicates
    }

    /// Segments with new data, and how many of them were stored: their ratio is alheid-2016's out-of-order
    /// ratio.
    #[must_use]
    pub fn packets(&self) -> (u64, u64) {
        (self.arrived, self.waited)
    }

    /// Bytes in the store.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.stored_bytes
    }

    /// Largest number of bytes in the store at once.
    #[must_use]
    pub fn stored_bytes_max(&self) -> u64 {
        self.stored_bytes_max
    }

    /// Largest number of segments in the store at once: alheid-2016's out-of-order buffer.
    #[must_use]
    pub fn stored_segments_max(&self) -> usize {
        self.stored_segments_max
    }

    /// Restarts the maxima from now on.
    pub fn restart_maxima(&mut self) {
        self.stored_bytes_max = self.stored_bytes;
        self.stored_segments_max = self.store.len();
    }
}
