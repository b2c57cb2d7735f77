//! Reordered packets of RFC 4737 (section 3.3) and their extents (section 4.2).

use std::collections::VecDeque;

/// Packets with a number below one that arrived before. The extent of such a packet is the number of
/// arrivals since the first larger one.
///
/// Duplicates are ignored, as the RFC requires. A packet more than [`HORIZON`] numbers below the largest
/// counts as lost, which bounds the memory.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    /// NextExp: one past the largest number that has arrived.
    next_expected: u64,
    /// One bit for each of the last `HORIZON` numbers: whether it has arrived.
    arrived: Box<[u64]>,
    /// Arrivals in order within the horizon. The first arrival larger than a given number was always one of
    /// them.
    in_order: VecDeque<OrderedRun>,
    received: u64,
    reordered: u64,
    /// Number of packets of each extent; index 0 is extent 1.
    pub(crate) counts: Vec<u64>,
}

/// Packets with consecutive numbers that arrived one after the other.
#[derive(Clone, Copy, Debug)]
struct OrderedRun {
    number: u64,
    position: u64,
    length: u64,
}

impl OrderedRun {
    fn end(&self) -> u64 {
        self.number + self.length
    }
}

const HORIZON: u64 = 1 << 16;

impl Extents {
    pub(crate) fn new() -> Extents {
        Extents {
            next_expected: 0,
            arrived: vec![0; HORIZON as usize / 64].into(),
            in_order: VecDeque::new(),
            received: 0,
            reordered: 0,
            counts: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn arrival(&mut self, number: u64) {
        if number >= self.next_expected {
            self.arrives_in_order(number);
        } else if self.next_expected - number <= HORIZON && !self.has_arrived(number) {
            self.arrives_late(number);
        }
    }

    /// Returns the fraction of reordered packets.
    pub(crate) fn reordered_ratio(&self) -> f64 {
        if self.received == 0 {
            return 0.0;
        }
        self.reordered as f64 / self.received as f64
    }

    #[inline]
    fn arrives_in_order(&mut self, number: u64) {
        let forgotten = number.saturating_sub(HORIZON - 1);
        for skipped in self.next_expected.max(forgotten)..number {
            self.set_arrived(skipped, false);
        }
        self.set_arrived(number, true);
        self.next_expected = number + 1;
        match self.in_order.back_mut() {
            Some(run) if run.end() == number && run.position + run.length == self.received => {
                run.length += 1;
            }
            _ => self.start_run(number),
        }
        self.received += 1;
    }

    fn start_run(&mut self, number: u64) {
        while let Some(first) = self.in_order.front()
            && first.end() + HORIZON <= number
        {
            self.in_order.pop_front();
        }
        self.in_order.push_back(OrderedRun {
            number,
            position: self.received,
            length: 1,
        });
    }

    fn arrives_late(&mut self, number: u64) {
        self.set_arrived(number, true);
        let next = self.in_order.partition_point(|run| run.end() <= number);
        // The packet is not part of that run, so all of the run is larger.
        let extent = self.received - self.in_order[next].position;
        let index = extent as usize - 1;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += 1;
        self.reordered += 1;
        self.received += 1;
    }

    fn has_arrived(&self, number: u64) -> bool {
        let bit = number % HORIZON;
        self.arrived[bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    #[inline]
    fn set_arrived(&mut self, number: u64, arrived: bool) {
        let bit = number % HORIZON;
        let word = &mut self.arrived[bit as usize / 64];
        *word = *word & !(1 << (bit % 64)) | u64::from(arrived) << (bit % 64);
    }
}
