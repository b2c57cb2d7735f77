//! Reorder density (RD) of RFC 5236.

use std::collections::VecDeque;

/// Displacement of each packet: receive index less sequence number.
///
/// The receive index counts arrivals, but skips the numbers of lost packets. This is the "stay-back"
/// algorithm of section 7.1: an arrival gets its index after enough others have arrived to detect losses.
#[derive(Clone, Debug)]
pub(crate) struct Density {
    /// DT.
    threshold: u64,
    /// RI: index of the next arrival.
    index: u64,
    /// Arrivals without an index; at most DT + 1.
    window: VecDeque<u64>,
    /// Early arrivals that got an index before their own; at most DT.
    early: Vec<u64>,
    /// One past the largest number that has arrived.
    next_number: u64,
    /// FD, from -DT to DT.
    counts: Vec<u64>,
}

impl Density {
    pub(crate) fn new(threshold: u32) -> Density {
        Density {
            threshold: u64::from(threshold),
            index: 0,
            window: VecDeque::new(),
            early: Vec::new(),
            next_number: 0,
            counts: vec![0; threshold as usize * 2 + 1],
        }
    }

    /// Records the arrival of a packet; a duplicate changes nothing.
    #[inline]
    pub(crate) fn arrival(&mut self, number: u64) {
        if number < self.next_number && self.is_known_or_lost(number) {
            return;
        }
        self.next_number = self.next_number.max(number + 1);
        self.window.push_back(number);
        if self.window.len() as u64 > self.threshold {
            self.place_first();
        }
    }

    /// Returns RD: the fraction of packets at each displacement that occurs.
    pub(crate) fn shares(&self) -> Vec<(i64, f64)> {
        let mut all = self.clone();
        while !all.window.is_empty() {
            all.place_first();
        }
        let total: u64 = all.counts.iter().sum();
        let displacements = -(self.threshold as i64)..;
        displacements
            .zip(all.counts)
            .filter(|&(_, count)| count > 0)
            .map(|(displacement, count)| (displacement, count as f64 / total as f64))
            .collect()
    }

    fn is_known_or_lost(&self, number: u64) -> bool {
        number < self.index || self.early.contains(&number) || self.window.contains(&number)
    }

    /// Gives an index to the first arrival of the window, and counts its displacement.
    #[inline]
    fn place_first(&mut self) {
        let Some(number) = self.window.pop_front() else {
            return;
        };
        let mut early = self.position_in_early();
        if early.is_none() && number != self.index && !self.window.contains(&self.index) {
            self.skip_lost(number);
            early = self.position_in_early();
        }
        let displacement = self.index as i64 - number as i64;
        if displacement.unsigned_abs() > self.threshold {
            return; // too early or too late: discarded, and its index given to the next
        }
        self.counts[(self.threshold as i64 + displacement) as usize] += 1;
        if let Some(position) = early {
            self.early.swap_remove(position);
        }
        if displacement < 0 {
            self.early.push(number);
        }
        self.index += 1;
    }

    /// Returns the position, among early arrivals, of the packet whose number is the current index.
    #[inline]
    fn position_in_early(&self) -> Option<usize> {
        self.early.iter().position(|&early| early == self.index)
    }

    /// Advances to the next index that is the number of a packet: the placed one, one in the window, or an
    /// early one.
    fn skip_lost(&mut self, placed: u64) {
        let known = self.window.iter().chain(&self.early);
        let next = known.copied().filter(|&number| number >= self.index);
        let next = next.chain((placed >= self.index).then_some(placed)).min();
        self.index = next.unwrap_or(self.index);
    }
}
