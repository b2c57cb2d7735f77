//! Queue of the device: a first-in-first-out queue for each lane, served in turn.
//!
//! The scheduler of FQ-CoDel (RFC 8290, sections 4.1 and 4.2): deficit round robin, in which a lane that has
//! just become active goes first, so that a page is not loaded behind an upload. Packets beyond the limit are
//! dropped from the tail of the longest lane: after a silent outage the peer needs those at the head. CoDel
//! itself is left out, since the limit follows the rate of the links.

use std::collections::VecDeque;

use super::lanes::LANES;
use super::queue::{Fifo, Queued};

/// Bytes that a lane may send in its turn: an Ethernet frame, as in RFC 8290, section 5.2.
const QUANTUM: i64 = 1514;
/// Emptied queues that are kept for lanes that become active.
const MAX_SPARE: usize = 8;
/// Limit of packets: short ones take more memory than they have bytes.
const MAX_PACKETS: usize = 1 << 15;

#[derive(Debug)]
pub(super) struct FairQueue<P> {
    lanes: Vec<LaneQueue<P>>,
    /// Active lanes in the order of their turns: newly active ones, then the others.
    new: VecDeque<u8>,
    old: VecDeque<u8>,
    pub(super) bytes: u64,
    pub(super) packets: usize,
    /// Emptied queues: a lane that was long once does not keep its memory.
    spare: Vec<Fifo<P>>,
}

#[derive(Debug)]
struct LaneQueue<P> {
    /// `Some` while it is active.
    packets: Option<Fifo<P>>,
    deficit: i64,
}

impl<P> FairQueue<P> {
    pub(super) fn new() -> FairQueue<P> {
        let lanes = (0..LANES).map(|_| LaneQueue {
            packets: None,
            deficit: 0,
        });
        FairQueue {
            lanes: lanes.collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            bytes: 0,
            packets: 0,
            spare: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(super) fn push(&mut self, packet: Queued<P>) {
        self.bytes += u64::from(packet.bytes);
        self.packets += 1;
        let lane = &mut self.lanes[usize::from(packet.lane)];
        if lane.packets.is_none() {
            lane.deficit = QUANTUM;
            self.new.push_back(packet.lane);
        }
        let spare = &mut self.spare;
        let packets = &mut lane.packets;
        packets
            .get_or_insert_with(|| spare.pop().unwrap_or_else(Fifo::new))
            .push(packet);
    }

    fn longest(&self) -> Option<u8> {
        let active = self.new.iter().chain(&self.old).copied();
        active.max_by_key(|&lane| self.waiting(lane))
    }

    pub(super) fn waiting(&self, lane: u8) -> u64 {
        let packets = self.lanes[usize::from(lane)].packets.as_ref();
        packets.map_or(0, |fifo| fifo.bytes)
    }

    /// Makes space for a packet of a lane within a limit of `most` bytes: drops packets from the tails of
    /// longer lanes. Returns the number of dropped packets, and whether there is space now.
    pub(super) fn make_room(&mut self, lane: u8, bytes: u32, most: u64) -> (u64, bool) {
        let bytes = u64::from(bytes);
        let own = self.waiting(lane) + bytes;
        let mut dropped = 0;
        while self.bytes + bytes > most || self.packets >= MAX_PACKETS {
            match self.longest() {
                Some(longest) if self.waiting(longest) > own => self.drop_last(longest),
                _ => return (dropped, false),
            }
            dropped += 1;
        }
        (dropped, true)
    }

    /// Drops packets from the tails of the longest lanes until at most `most` bytes are left; returns their
    /// number.
    pub(super) fn cut(&mut self, most: u64) -> u64 {
        let mut dropped = 0;
        while self.bytes > most {
            let Some(longest) = self.longest() else {
                break;
            };
            self.drop_last(longest);
            dropped += 1;
        }
        dropped
    }

    /// An emptied lane stays active until its turn.
    fn drop_last(&mut self, lane: u8) {
        let packets = self.lanes[usize::from(lane)].packets.as_mut();
        if let Some(bytes) = packets.and_then(Fifo::drop_last) {
            self.bytes -= bytes;
            self.packets -= 1;
        }
    }

    pub(super) fn front(&mut self) -> Option<&Queued<P>> {
        let lane = self.turn()?;
        self.lanes[usize::from(lane)].packets.as_ref()?.front()
    }

    pub(super) fn pop(&mut self) -> Option<Queued<P>> {
        let number = self.turn()?;
        let lane = &mut self.lanes[usize::from(number)];
        let first = lane.packets.as_mut()?.pop()?;
        lane.deficit -= i64::from(first.bytes);
        self.bytes -= u64::from(first.bytes);
        self.packets -= 1;
        Some(first)
    }

    /// Returns the lane whose turn it is (RFC 8290, section 4.2).
    fn turn(&mut self) -> Option<u8> {
        while let Some(&number) = self.new.front().or_else(|| self.old.front()) {
            let is_new = !self.new.is_empty();
            let lane = &mut self.lanes[usize::from(number)];
            let has_packets = lane.packets.as_ref().is_some_and(|all| all.bytes > 0);
            if has_packets && lane.deficit > 0 {
                return Some(number);
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.pop_front();
            if has_packets {
                lane.deficit += QUANTUM;
                self.old.push_back(number);
            } else if is_new {
                // Otherwise it would go before the others again with its next packet.
                self.old.push_back(number);
            } else {
                self.spare.extend(lane.packets.take());
                self.spare.truncate(MAX_SPARE);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ropewalk_wire::gateway::tunnel::Delivery;

    use super::*;

    fn queued(lane: u8, packet: u32, bytes: u32) -> Queued<u32> {
        Queued {
            packet,
            bytes,
            lane,
            delivery: Delivery::InOrder,
            is_copied: false,
        }
    }

    /// A queue with this number of packets of 1000 bytes in each lane, numbered from 100 times the lane on.
    fn filled(lanes: &[(u8, u32)]) -> FairQueue<u32> {
        let mut queue = FairQueue::new();
        for &(lane, count) in lanes {
            for number in 0..count {
                queue.push(queued(lane, u32::from(lane) * 100 + number, 1000));
            }
        }
        queue
    }

    fn drained(queue: &mut FairQueue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop().map(|first| first.packet)).collect()
    }

    #[test]
    fn lanes_take_turns_by_bytes() {
        let mut queue = filled(&[(1, 4), (2, 4)]);
        // 1514 bytes allow two packets, the second on credit.
        assert_eq!(
            drained(&mut queue),
            [100, 101, 200, 201, 102, 103, 202, 203]
        );
        assert!(queue.is_empty() && queue.front().is_none());
    }

    #[test]
    fn a_lane_that_becomes_active_goes_first() {
        let mut queue = filled(&[(1, 50)]);
        for _ in 0..5 {
            queue.pop();
        }
        for number in 700..720 {
            queue.push(queued(7, number, 1000));
        }
        assert_eq!(queue.front().map(|first| first.packet), Some(700));
        let order = drained(&mut queue);
        let of_new = order[..20].iter().filter(|&&packet| packet >= 700).count();
        assert!((9..=12).contains(&of_new), "{order:?}");
    }

    #[test]
    fn excess_is_dropped_from_the_longest_lane() {
        let mut queue = filled(&[(1, 5), (2, 2)]);
        assert_eq!(queue.make_room(2, 1000, 8000), (0, true));
        assert_eq!(queue.make_room(1, 1000, 7000), (0, false));
        assert_eq!(queue.make_room(2, 1000, 7000), (1, true));
        assert_eq!((queue.waiting(1), queue.waiting(2)), (4000, 2000));
        queue.push(queued(2, 202, 1000));
        assert_eq!(queue.make_room(3, 1000, 6000), (2, true));
        assert_eq!(queue.cut(4000), 1);
        let mut left = drained(&mut queue);
        left.sort_unstable();
        assert!(
            left.contains(&100) && left.contains(&200) && left.len() == 4,
            "{left:?}"
        );
    }

    #[test]
    fn oldest_packets_of_a_lane_are_kept() {
        let mut queue = filled(&[(1, 5)]);
        assert_eq!(queue.cut(5000), 0);
        assert_eq!(queue.cut(3500), 2);
        assert_eq!(drained(&mut queue), [100, 101, 102]);
    }

    proptest! {
        /// Only dropped packets are lost, lanes keep their order, and backlogged lanes send equally.
        #[test]
        fn it_is_fair_and_loses_nothing(
            events in prop::collection::vec((any::<bool>(), 0_u8..6, 40_u32..1500), 1..400),
        ) {
            let mut queue = FairQueue::new();
            let (mut pushed, mut popped) = (Vec::new(), Vec::new());
            for (number, (push, lane, bytes)) in events.into_iter().enumerate() {
                if push {
                    queue.push(queued(lane, number as u32, bytes));
                    pushed.push((lane, number as u32));
                } else if let Some(first) = queue.pop() {
                    popped.push((first.lane, first.packet));
                }
                let waiting: u64 = (0..6).map(|lane| queue.waiting(lane)).sum();
                prop_assert_eq!(waiting, queue.bytes);
            }
            while let Some(first) = queue.pop() {
                popped.push((first.lane, first.packet));
            }
            prop_assert!(queue.is_empty());
            for lane in 0..6 {
                let of = |all: &[(u8, u32)]| -> Vec<u32> {
                    let of = all.iter().filter(|(other, _)| *other == lane);
                    of.map(|(_, number)| *number).collect()
                };
                prop_assert_eq!(of(&pushed), of(&popped));
            }
        }

        #[test]
        fn busy_lanes_send_alike(sizes in prop::collection::vec(40_u32..1500, 2..6)) {
            let mut queue = FairQueue::new();
            let mut sent = vec![0_i64; sizes.len()];
            for turn in 0..3000 {
                for (lane, bytes) in sizes.iter().enumerate() {
                    if queue.waiting(lane as u8) < 3000 {
                        queue.push(queued(lane as u8, turn, *bytes));
                        queue.push(queued(lane as u8, turn, *bytes));
                    }
                }
                let first = queue.pop().unwrap();
                sent[usize::from(first.lane)] += i64::from(first.bytes);
            }
            let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
            prop_assert!(most - least <= 3 * QUANTUM, "{:?}", sent);
        }
    }
}
