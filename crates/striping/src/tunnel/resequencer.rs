//! Puts packets in order again, each lane separately.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use ropewalk_wire::gateway::tunnel::{Delivery, Sequencing};

/// How far a packet may be ahead of the next one in order; beyond that the lane starts anew with it.
const MAX_AHEAD: u64 = 1 << 16;
/// Memory of a slot in a lane, in bytes; empty slots count too.
const SLOT: u64 = 64;
/// How many given-up gaps are remembered in a lane.
const MAX_GIVEN_UP: usize = 256;

/// The lanes and the packets that wait in them. Times are microseconds of the sender's clock: when a packet
/// was sent, and the time up to which everything sent should have arrived.
///
/// Each packet is delivered once, in the order of its lane. One that arrives after its gap was given up is
/// delivered late, since a TCP prefers a late packet to a lost one.
#[derive(Debug)]
pub struct Resequencer<P> {
    lanes: Vec<Lane<P>>,
    /// Lanes with waiting packets.
    waiting: Vec<u8>,
    /// Packets of lanes that started anew.
    ready: VecDeque<P>,
    held: u64,
    capacity: u64,
    counters: ResequencerCounters,
}

/// One flow, or several with the same hash.
#[derive(Debug)]
struct Lane<P> {
    /// Sequence of the next packet in order.
    next: u64,
    /// Packets ahead of order: the first slot is that of `next`, the last one is never empty.
    early: VecDeque<Option<Held<P>>>,
    /// How many slots are empty before the first waiting packet, if one waits.
    gap: usize,
    /// Ranges that were recently given up and may still arrive. Anything else below `next` is a duplicate.
    given_up: VecDeque<(u64, u64)>,
    /// Gaps below this sequence are not waited for.
    open_until: u64,
}

/// A packet that waits.
#[derive(Debug)]
pub struct Held<P> {
    /// The packet.
    pub packet: P,
    /// Its length.
    pub bytes: u32,
    /// When it was sent.
    pub sent: i64,
    /// Whether it waits for its time even when it is in order.
    pub in_step: bool,
}

/// What is due.
#[derive(Clone, Copy, Debug)]
pub(super) struct Due {
    /// Packets in step that were sent until then.
    pub(super) in_step: i64,
    /// What was sent until then would have arrived by the slowest link, and again if it was lost.
    pub(super) arrived: i64,
}

/// Counters of a resequencer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResequencerCounters {
    /// Packets that had to wait.
    pub waited: u64,
    /// Packets that were given up, lost as far as is known.
    pub given_up: u64,
    /// Packets that arrived after they were given up.
    pub late: u64,
    /// Most bytes that waited at once.
    pub held_most: u64,
}

impl<P> Resequencer<P> {
    /// A resequencer in which at most `capacity` bytes wait.
    #[must_use]
    pub fn new(capacity: u64) -> Resequencer<P> {
        let lane = || Lane {
            next: 0,
            early: VecDeque::new(),
            gap: 0,
            given_up: VecDeque::new(),
            open_until: 0,
        };
        Resequencer {
            lanes: (0..=u8::MAX).map(|_| lane()).collect(),
            waiting: Vec::new(),
            ready: VecDeque::new(),
            held: 0,
            capacity,
            counters: ResequencerCounters::default(),
        }
    }

    /// Whether a packet is to be delivered at once; if not, [`hold`](Resequencer::hold) it. Afterwards,
    /// others may be due.
    pub(super) fn passes(&mut self, sequencing: Sequencing, sent: i64, due: &Due) -> bool {
        if sequencing.lane == 0 {
            return true;
        }
        let lane = &mut self.lanes[usize::from(sequencing.lane)];
        let ahead = sequencing.sequence.wrapping_sub(lane.next as u32) as i32;
        if ahead < 0 {
            // Nothing precedes a lane's first packet, whatever a peer claims.
            let sequence = lane.next.checked_sub(u64::from(ahead.unsigned_abs()));
            let late = sequence.is_some_and(|sequence| lane.takes_late(sequence));
            self.counters.late += u64::from(late);
            return late;
        }
        if sequencing.delivery == Delivery::AtOnce {
            lane.open_until = lane.next + u64::from(ahead.unsigned_abs());
        }
        let waits = sequencing.delivery == Delivery::InStep && sent > due.in_step;
        let is_there = matches!(lane.early.front(), Some(Some(_)));
        if ahead > 0 || waits || is_there {
            return false;
        }
        lane.next += 1;
        if lane.early.pop_front().is_some() {
            lane.gap -= 1;
            self.held -= SLOT;
        }
        true
    }

    /// Holds a packet that does not pass; a duplicate is returned to the caller.
    pub(super) fn hold(&mut self, sequencing: Sequencing, held: Held<P>) -> Option<P> {
        let mut ahead = self.ahead(sequencing);
        if (ahead as u32 as i32) < 0 {
            return Some(held.packet);
        }
        if ahead >= MAX_AHEAD {
            self.begin_anew(sequencing.lane, ahead);
            ahead = 0;
        }
        let lane = &mut self.lanes[usize::from(sequencing.lane)];
        let index = ahead as usize;
        let gap = if lane.early.is_empty() {
            index
        } else {
            lane.gap.min(index)
        };
        if lane.early.len() <= index {
            let slots = index + 1 - lane.early.len();
            self.held += SLOT * slots as u64;
            lane.early.resize_with(index + 1, || None);
        }
        if lane.early[index].is_some() {
            return Some(held.packet);
        }
        self.held += u64::from(held.bytes);
        self.counters.held_most = self.counters.held_most.max(self.held);
        self.counters.waited += 1;
        lane.early[index] = Some(held);
        lane.gap = gap;
        if !self.waiting.contains(&sequencing.lane) {
            self.waiting.push(sequencing.lane);
        }
        None
    }

    fn ahead(&self, sequencing: Sequencing) -> u64 {
        let next = self.lanes[usize::from(sequencing.lane)].next;
        u64::from(sequencing.sequence.wrapping_sub(next as u32))
    }

    /// Gives up everything missing in a lane up to so far ahead.
    fn begin_anew(&mut self, number: u8, ahead: u64) {
        let lane = &mut self.lanes[usize::from(number)];
        self.held -= SLOT * lane.early.len() as u64;
        let mut missing = lane.next;
        for (held, sequence) in core::mem::take(&mut lane.early)
            .into_iter()
            .zip(lane.next..)
        {
            let Some(held) = held else { continue };
            lane.give_up(missing, sequence);
            self.counters.given_up += sequence - missing;
            missing = sequence + 1;
            self.held -= u64::from(held.bytes);
            self.ready.push_back(held.packet);
        }
        lane.next += ahead;
        lane.give_up(missing, lane.next);
        self.counters.given_up += lane.next - missing;
        self.waiting.retain(|&lane| lane != number);
    }

    /// The next packet that is due, or for which there is no room.
    pub(super) fn pop(&mut self, due: &Due) -> Option<P> {
        if let Some(packet) = self.ready.pop_front() {
            return Some(packet);
        }
        let mut number = 0;
        while let Some(&lane) = self.waiting.get(number) {
            let lane = &mut self.lanes[usize::from(lane)];
            let (gap, head) = lane.head();
            let full = self.held > self.capacity;
            let whole = !lane.misses(gap) || head.sent <= due.arrived;
            let in_time = !head.in_step || head.sent <= due.in_step;
            let due = whole && in_time;
            if !full && !due {
                number += 1;
                continue;
            }
            self.counters.given_up += gap as u64;
            lane.give_up(lane.next, lane.next + gap as u64);
            lane.early.drain(..gap);
            let head = lane
                .early
                .pop_front()
                .flatten()
                .expect("it was found there");
            lane.next += gap as u64 + 1;
            self.held -= SLOT * (gap as u64 + 1) + u64::from(head.bytes);
            match lane.early.iter().position(Option::is_some) {
                Some(gap) => lane.gap = gap,
                None => {
                    self.waiting.swap_remove(number);
                }
            }
            return Some(head.packet);
        }
        None
    }

    /// For each lane the first waiting packet: when it was sent, whether it is in step, and whether a gap
    /// precedes it.
    pub(super) fn heads(&self) -> impl Iterator<Item = (i64, bool, bool)> + '_ {
        self.waiting.iter().map(|&lane| {
            let lane = &self.lanes[usize::from(lane)];
            let (gap, head) = lane.head();
            (head.sent, head.in_step, lane.misses(gap))
        })
    }

    /// Bytes of the waiting packets and of their slots.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> ResequencerCounters {
        self.counters
    }
}

impl<P> Lane<P> {
    fn give_up(&mut self, first: u64, end: u64) {
        if first < end {
            if self.given_up.len() == MAX_GIVEN_UP {
                self.given_up.pop_front();
            }
            self.given_up.push_back((first, end));
        }
    }

    /// Whether a packet was given up and has not arrived since.
    fn takes_late(&mut self, sequence: u64) -> bool {
        let index = self.given_up.partition_point(|&(_, end)| end <= sequence);
        let Some(&(first, end)) = self.given_up.get(index) else {
            return false;
        };
        if sequence < first {
            return false;
        }
        self.given_up.remove(index);
        for gap in [(sequence + 1, end), (first, sequence)] {
            if gap.0 < gap.1 {
                self.given_up.insert(index, gap);
            }
        }
        // Removing one sequence may have split a range in two.
        if self.given_up.len() > MAX_GIVEN_UP {
            self.given_up.pop_front();
        }
        true
    }

    /// Whether the gap before the first waiting packet is to be waited for.
    fn misses(&self, gap: usize) -> bool {
        gap > 0 && self.next + gap as u64 > self.open_until
    }

    /// The first waiting packet of a lane that has one, and how many are missing before it.
    fn head(&self) -> (usize, &Held<P>) {
        let head = self.early.get(self.gap).and_then(Option::as_ref);
        (self.gap, head.expect("a packet waits behind the gap"))
    }
}
