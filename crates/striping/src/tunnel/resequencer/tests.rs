use proptest::prelude::*;

use super::*;

/// Memory of a held packet of 1000 bytes that is far from others.
const MEMORY: u64 = 1000 + (PagedPackets::<u32>::PAGE + paged_packets::ALLOCATION) as u64;

const NEVER: DeliveryTimes = DeliveryTimes {
    now: i64::MIN,
    in_step: i64::MAX,
    arrived: i64::MIN,
};

fn sequencing(lane: u8, sequence: u32) -> Sequencing {
    Sequencing {
        lane,
        sequence,
        delivery: Delivery::InOrder,
    }
}

fn held(packet: u32, sent: i64) -> HeldPacket<u32> {
    HeldPacket {
        packet,
        bytes: 1000,
        sent,
        arrived: sent,
        in_step: false,
    }
}

fn offer(
    resequencer: &mut Resequencer<u32>,
    lane: u8,
    number: u32,
    due: &DeliveryTimes,
) -> Vec<u32> {
    let mut out = Vec::new();
    let sent = i64::from(number);
    if resequencer.passes(sequencing(lane, number), sent, due) {
        out.push(number);
    } else {
        assert_eq!(
            resequencer.hold(sequencing(lane, number), held(number, sent)),
            None
        );
    }
    out.extend(std::iter::from_fn(|| resequencer.pop(due)));
    out
}

#[test]
fn gap_blocks_only_its_lane() {
    let mut resequencer = Resequencer::new(1 << 20);
    assert_eq!(offer(&mut resequencer, 1, 1, &NEVER), []);
    assert_eq!(offer(&mut resequencer, 2, 0, &NEVER), [0]);
    assert_eq!(offer(&mut resequencer, 1, 0, &NEVER), [0, 1]);
    assert_eq!(resequencer.held(), 0);
}

#[test]
fn sequences_before_the_first_packet_are_refused() {
    let mut resequencer = Resequencer::<u32>::new(1 << 20);
    assert!(!resequencer.passes(sequencing(1, u32::MAX), 0, &NEVER));
    assert!(resequencer.passes(sequencing(1, 0), 0, &NEVER));
    assert!(!resequencer.passes(sequencing(1, u32::MAX - 5), 0, &NEVER));
    assert_eq!(resequencer.counters().late, 0);
}

#[test]
fn remembered_gaps_are_bounded() {
    let mut resequencer = Resequencer::new(1 << 20);
    let all = 4 * MAX_GIVEN_UP as u32;
    assert_eq!(offer(&mut resequencer, 1, 1 << 20, &NEVER), [1 << 20]);
    for number in 0..all {
        resequencer.passes(sequencing(1, 2 * number + 1), 0, &NEVER);
        assert!(resequencer.lanes[1].given_up.len() <= MAX_GIVEN_UP);
    }
}

#[test]
fn held_packet_is_not_replaced_by_duplicate() {
    let mut resequencer = Resequencer::new(1 << 20);
    let soon = DeliveryTimes {
        in_step: 5,
        ..NEVER
    };
    let in_step = Sequencing {
        delivery: Delivery::InStep,
        ..sequencing(1, 0)
    };
    assert!(!resequencer.passes(in_step, 6, &soon));
    let first = HeldPacket {
        in_step: true,
        ..held(6, 6)
    };
    assert_eq!(resequencer.hold(in_step, first), None);
    assert!(!resequencer.passes(sequencing(1, 0), 3, &soon));
    assert_eq!(resequencer.hold(sequencing(1, 0), held(3, 3)), Some(3));
    assert_eq!(resequencer.pop(&soon), None);
    assert_eq!(resequencer.pop(&NEVER), Some(6));
    assert_eq!(resequencer.held(), 0);
}

#[test]
fn gap_is_given_up_in_time_and_its_packet_late_once() {
    let mut resequencer = Resequencer::new(1 << 20);
    assert_eq!(offer(&mut resequencer, 1, 3, &NEVER), []);
    let until = |arrived| DeliveryTimes { arrived, ..NEVER };
    assert_eq!(resequencer.pop(&until(2)), None);
    assert_eq!(resequencer.pop(&until(3)), Some(3));
    assert_eq!(offer(&mut resequencer, 1, 1, &NEVER), [1]);
    // Earlier packets are duplicates.
    for before in [1, 3] {
        assert!(!resequencer.passes(sequencing(1, before), 9, &NEVER));
        assert_eq!(
            resequencer.hold(sequencing(1, before), held(before, 9)),
            Some(before)
        );
    }
    let expected = ResequencerCounters {
        waited: 1,
        given_up: 3,
        late: 1,
        held_most: MEMORY,
    };
    assert_eq!(resequencer.counters(), expected);
}

#[test]
fn at_once_ignores_gaps_and_follows_held_packets() {
    let mut resequencer = Resequencer::new(1 << 20);
    assert_eq!(offer(&mut resequencer, 1, 2, &NEVER), []);
    let at_once = |number| Sequencing {
        delivery: Delivery::AtOnce,
        ..sequencing(1, number)
    };
    assert!(!resequencer.passes(at_once(4), 4, &NEVER));
    assert_eq!(resequencer.hold(at_once(4), held(4, 4)), None);
    let due: Vec<_> = std::iter::from_fn(|| resequencer.pop(&NEVER)).collect();
    assert_eq!(due, [2, 4]);
    assert_eq!((resequencer.held(), resequencer.heads().count()), (0, 0));
    // Packets of a skipped gap are late; packets behind another gap are held.
    assert!(resequencer.passes(sequencing(1, 3), 3, &NEVER));
    assert_eq!(offer(&mut resequencer, 1, 6, &NEVER), []);
    assert_eq!(offer(&mut resequencer, 1, 5, &NEVER), [5, 6]);
}

#[test]
fn in_step_means_not_before_its_time() {
    let mut resequencer = Resequencer::new(1 << 20);
    let due = DeliveryTimes {
        in_step: 9,
        ..NEVER
    };
    let in_step = Sequencing {
        delivery: Delivery::InStep,
        ..sequencing(1, 0)
    };
    assert!(!resequencer.passes(in_step, 10, &due));
    let packet = HeldPacket {
        in_step: true,
        ..held(0, 10)
    };
    assert_eq!(resequencer.hold(in_step, packet), None);
    assert_eq!(resequencer.pop(&due), None);
    assert_eq!(resequencer.pop(&NEVER), Some(0));
}

#[test]
fn far_sequence_restarts_lane() {
    let mut resequencer = Resequencer::new(1 << 20);
    assert_eq!(offer(&mut resequencer, 1, 5, &NEVER), []);
    assert_eq!(offer(&mut resequencer, 1, 1 << 20, &NEVER), [5, 1 << 20]);
    assert_eq!(
        offer(&mut resequencer, 1, (1 << 20) + 1, &NEVER),
        [(1 << 20) + 1]
    );
    assert_eq!(resequencer.held(), 0);
}

#[test]
fn restarted_lane_gives_up_missing_packets() {
    let mut resequencer = Resequencer::new(1 << 20);
    assert_eq!(offer(&mut resequencer, 1, 0, &NEVER), [0]);
    assert_eq!(offer(&mut resequencer, 1, 3, &NEVER), []);
    assert_eq!(offer(&mut resequencer, 1, 1 << 20, &NEVER), [3, 1 << 20]);
    // All between but one, which was held.
    assert_eq!(resequencer.counters().given_up, (1 << 20) - 2);
}

#[test]
fn memory_depends_on_packets_instead_of_distance() {
    let mut resequencer = Resequencer::new(16 << 20);
    for lane in 1..=255 {
        assert_eq!(offer(&mut resequencer, lane, 65_535, &NEVER), []);
    }
    assert_eq!(resequencer.held(), 255 * MEMORY);
    let end = DeliveryTimes {
        arrived: i64::MAX,
        ..NEVER
    };
    assert_eq!(std::iter::from_fn(|| resequencer.pop(&end)).count(), 255);
    assert_eq!((resequencer.held(), resequencer.heads().count()), (0, 0));
}

#[test]
fn full_resequencer_delivers_oldest_packets() {
    let mut resequencer = Resequencer::new(3 * MEMORY);
    for (lane, sent) in [(7, 30), (3, 10), (5, 20)] {
        let held = held(u32::from(lane), sent);
        assert_eq!(resequencer.hold(sequencing(lane, 1000), held), None);
        assert_eq!(resequencer.pop(&NEVER), None);
    }
    assert_eq!(resequencer.hold(sequencing(9, 1000), held(9, 40)), None);
    assert_eq!(resequencer.pop(&NEVER), Some(3));
    assert_eq!(resequencer.pop(&NEVER), None);
}

#[test]
fn packet_is_held_at_most_five_seconds() {
    let mut resequencer = Resequencer::new(1 << 20);
    assert_eq!(offer(&mut resequencer, 1, 3, &NEVER), []);
    let at = |now| DeliveryTimes { now, ..NEVER };
    assert_eq!(resequencer.pop(&at(3 + MAX_WAIT - 1)), None);
    assert_eq!(resequencer.pop(&at(3 + MAX_WAIT)), Some(3));
}

proptest! {
    #[test]
    fn delivery_is_exactly_once_in_order_with_bounded_memory(
        order in Just((0..200_u32).collect::<Vec<_>>()).prop_shuffle(),
        lost in prop::collection::btree_set(0..200_u32, 0..20),
        capacity in 0_u64..100_000,
    ) {
        let mut resequencer = Resequencer::new(capacity);
        let mut out = Vec::new();
        for number in order {
            if !lost.contains(&number) {
                out.extend(offer(&mut resequencer, 1, number, &NEVER));
                prop_assert!(resequencer.held() <= capacity.max(MEMORY));
            }
        }
        let end = DeliveryTimes { arrived: i64::MAX, ..NEVER };
        out.extend(std::iter::from_fn(|| resequencer.pop(&end)));
        if resequencer.counters().late == 0 {
            prop_assert!(out.is_sorted());
        }
        out.sort_unstable();
        let expected: Vec<u32> = (0..200).filter(|number| !lost.contains(number)).collect();
        prop_assert_eq!(out, expected);
        prop_assert_eq!(resequencer.held(), 0);
    }

    /// For any sequences, and any packets that pass, are held or are due: memory and heads match the held
    /// packets, and each of them is delivered once.
    #[test]
    fn any_sequences_are_delivered_once_and_counted(
        packets in prop::collection::vec(
            (0_u8..3, 0_u32..3, 0_u32..40, 0_u32..3, 0_i64..50, -50_i64..100), 1..200,
        ),
    ) {
        let mut resequencer = Resequencer::new(20 * MEMORY);
        let (mut offered, mut delivered) = (Vec::new(), Vec::new());
        for (number, (lane, far, near, delivery, sent, time)) in packets.into_iter().enumerate() {
            let number = number as u32;
            let due = DeliveryTimes { now: time, in_step: time, arrived: time - 20 };
            let delivery = [Delivery::AtOnce, Delivery::InOrder, Delivery::InStep][delivery as usize];
            let sequencing = Sequencing { lane, sequence: (far * 65_530).wrapping_add(near), delivery };
            if resequencer.passes(sequencing, sent, &due) {
                delivered.push(number);
                offered.push(number);
            } else {
                let in_step = delivery == Delivery::InStep;
                let held = HeldPacket { in_step, ..held(number, sent) };
                if resequencer.hold(sequencing, held).is_none() {
                    offered.push(number);
                }
            }
            while let Some(packet) = resequencer.pop(&due) {
                delivered.push(packet);
            }
            let waiting: usize = resequencer.lanes.iter().map(|lane| lane.early.len()).sum();
            prop_assert_eq!(waiting, offered.len() - delivered.len());
            let memory: u64 = resequencer.lanes.iter().map(|lane| lane.early.memory()).sum();
            prop_assert_eq!(resequencer.held(), memory);
            prop_assert!(memory <= 20 * MEMORY);
            for (index, lane) in resequencer.lanes.iter().enumerate() {
                let head = lane.head.map(|head| resequencer.heads[head]);
                prop_assert_eq!(head, lane.find_head(index as u8));
            }
        }
        let end = DeliveryTimes { now: i64::MAX, ..NEVER };
        delivered.extend(std::iter::from_fn(|| resequencer.pop(&end)));
        delivered.sort_unstable();
        prop_assert_eq!(delivered, offered);
    }
}
