//! Reordering buffer of packets, with separate lanes.
//!
//! A peer chooses the sequences. So memory follows the number of held packets instead of the distance between
//! them, and the work for a packet is bounded.

mod paged_packets;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use paged_packets::{Page, PagedPackets};
use ropewalk_wire::gateway::tunnel::{Delivery, Sequencing};

/// Limit of the distance of a packet from the next one in order; beyond that the lane skips the gap.
const MAX_AHEAD: u64 = 1 << 16;
/// Limit of remembered gaps of a lane that were given up.
const MAX_GIVEN_UP: usize = 256;
/// Longest time that a packet is held, in microseconds, since the other times are chosen by the sender.
const MAX_WAIT: i64 = 5_000_000;

/// The lanes and their held packets. Times are microseconds of the sender's clock: when a packet was sent,
/// and the time up to which everything sent should have arrived.
///
/// Each packet is delivered once, in the order of its lane. One that arrives after its gap was given up is
/// delivered late, since a TCP prefers a late packet to a lost one.
#[derive(Debug)]
pub struct Resequencer<P> {
    lanes: Vec<LaneBuffer<P>>,
    /// The first packet of each lane with held packets.
    heads: Vec<Head>,
    spare: Option<Box<Page<P>>>,
    held: u64,
    capacity: u64,
    counters: ResequencerCounters,
}

/// One flow, or several with the same hash.
#[derive(Debug)]
struct LaneBuffer<P> {
    next: u64,
    early: PagedPackets<P>,
    head: Option<usize>,
    /// Ranges that were recently given up and may still arrive. Anything else below `next` is a duplicate.
    given_up: VecDeque<(u64, u64)>,
    /// Gaps below this sequence are skipped.
    open_until: u64,
}

/// The first held packet of a lane, which decides when it is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    lane: u8,
    sequence: u64,
    /// Whether it is held for its time even when it is in order.
    pub(super) in_step: bool,
    /// Whether it is behind a gap that is not skipped.
    pub(super) misses: bool,
    pub(super) sent: i64,
    /// Time limit, by the receiver's clock.
    pub(super) until: i64,
}

/// A held packet.
#[derive(Debug)]
pub struct HeldPacket<P> {
    /// The packet.
    pub packet: P,
    /// Length in bytes.
    pub bytes: u32,
    /// When it was sent.
    pub sent: i64,
    /// When it arrived, by the receiver's clock.
    pub arrived: i64,
    /// Whether it is held for its time even when it is in order.
    pub in_step: bool,
}

/// Times up to which packets are due.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeliveryTimes {
    pub(super) now: i64,
    /// Send time up to which packets in step are due.
    pub(super) in_step: i64,
    /// Send time up to which packets would have arrived by the slowest link, a retransmission included.
    pub(super) arrived: i64,
}

/// Counters of a resequencer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResequencerCounters {
    /// Packets that were held.
    pub waited: u64,
    /// Packets that were given up as lost.
    pub given_up: u64,
    /// Packets that arrived after they were given up.
    pub late: u64,
    /// Peak of the held packets' memory, in bytes.
    pub held_most: u64,
}

impl<P> Resequencer<P> {
    /// Creates a resequencer for held packets of at most `capacity` bytes of memory.
    #[must_use]
    pub fn new(capacity: u64) -> Resequencer<P> {
        let lane = || LaneBuffer {
            next: 0,
            early: PagedPackets::new(),
            head: None,
            given_up: VecDeque::new(),
            open_until: 0,
        };
        Resequencer {
            lanes: (0..=u8::MAX).map(|_| lane()).collect(),
            heads: Vec::new(),
            spare: None,
            held: 0,
            capacity,
            counters: ResequencerCounters::default(),
        }
    }

    /// Whether to deliver a packet at once; if not, [`hold`](Resequencer::hold) it. Afterwards, others may be
    /// due.
    pub(super) fn passes(
        &mut self,
        sequencing: Sequencing,
        sent: i64,
        due: &DeliveryTimes,
    ) -> bool {
        if sequencing.lane == 0 {
            return true;
        }
        let lane = &mut self.lanes[usize::from(sequencing.lane)];
        let ahead = sequencing.sequence.wrapping_sub(lane.next as u32) as i32;
        if ahead < 0 {
            // There is none before a lane's first packet, regardless of the peer.
            let sequence = lane.next.checked_sub(u64::from(ahead.unsigned_abs()));
            let late = sequence.is_some_and(|sequence| lane.takes_late(sequence));
            self.counters.late += u64::from(late);
            return late;
        }
        if sequencing.delivery == Delivery::AtOnce {
            lane.open_until = lane.next + u64::from(ahead.unsigned_abs());
        }
        let waits = sequencing.delivery == Delivery::InStep && sent > due.in_step;
        let head = lane.head.map(|head| &mut self.heads[head]);
        let is_there = head.as_ref().is_some_and(|head| head.sequence == lane.next);
        let passes = ahead == 0 && !waits && !is_there;
        lane.next += u64::from(passes);
        if let Some(head) = head {
            head.misses = lane.misses(head.sequence);
        }
        passes
    }

    /// Holds a packet that does not pass; a duplicate is returned to the caller.
    pub(super) fn hold(&mut self, sequencing: Sequencing, held: HeldPacket<P>) -> Option<P> {
        let lane = &mut self.lanes[usize::from(sequencing.lane)];
        let ahead = sequencing.sequence.wrapping_sub(lane.next as u32);
        if (ahead as i32) < 0 {
            return Some(held.packet);
        }
        let sequence = lane.next + u64::from(ahead);
        match lane.early.insert(sequence, held, &mut self.spare) {
            Ok(memory) => self.held += memory,
            Err(held) => return Some(held.packet),
        }
        if u64::from(ahead) >= MAX_AHEAD {
            lane.open_until = lane.open_until.max(sequence);
        }
        self.counters.held_most = self.counters.held_most.max(self.held);
        self.counters.waited += 1;
        match lane.head.map(|head| &mut self.heads[head]) {
            Some(head) if head.sequence < sequence => head.misses = lane.misses(head.sequence),
            _ => self.update_head(sequencing.lane),
        }
        None
    }

    /// Returns the next packet that is due, or beyond the capacity.
    pub(super) fn pop(&mut self, due: &DeliveryTimes) -> Option<P> {
        let number = match self.held > self.capacity {
            true => {
                let heads = self.heads.iter().enumerate();
                heads.min_by_key(|(_, head)| head.until)?.0
            }
            false => self.heads.iter().position(|head| head.is_due(due))?,
        };
        let number = self.heads[number].lane;
        let lane = &mut self.lanes[usize::from(number)];
        let (sequence, head, memory) = lane.early.pop(&mut self.spare)?;
        self.counters.given_up += sequence - lane.next;
        lane.give_up(lane.next, sequence);
        lane.next = sequence + 1;
        self.held -= memory;
        self.update_head(number);
        Some(head.packet)
    }

    fn update_head(&mut self, number: u8) {
        let lane = &mut self.lanes[usize::from(number)];
        match (lane.find_head(number), lane.head) {
            (Some(head), Some(index)) => self.heads[index] = head,
            (Some(head), None) => {
                lane.head = Some(self.heads.len());
                self.heads.push(head);
            }
            (None, Some(index)) => {
                lane.head = None;
                self.heads.swap_remove(index);
                if let Some(moved) = self.heads.get(index) {
                    self.lanes[usize::from(moved.lane)].head = Some(index);
                }
            }
            (None, None) => {}
        }
    }

    pub(super) fn heads(&self) -> impl Iterator<Item = &Head> {
        self.heads.iter()
    }

    /// Returns the memory of held packets, in bytes.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> ResequencerCounters {
        self.counters
    }
}

impl<P> LaneBuffer<P> {
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

    /// Whether a packet is behind a gap that is not skipped.
    fn misses(&self, sequence: u64) -> bool {
        sequence > self.next.max(self.open_until)
    }

    fn find_head(&self, number: u8) -> Option<Head> {
        let (sequence, held) = self.early.first()?;
        Some(Head {
            lane: number,
            sequence,
            in_step: held.in_step,
            misses: self.misses(sequence),
            sent: held.sent,
            until: held.arrived.saturating_add(MAX_WAIT),
        })
    }
}

impl Head {
    fn is_due(&self, due: &DeliveryTimes) -> bool {
        let whole = !self.misses || self.sent <= due.arrived;
        let in_time = !self.in_step || self.sent <= due.in_step;
        whole && in_time || self.until <= due.now
    }
}
