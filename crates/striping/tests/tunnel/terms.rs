//! Links on standby, and links with a rate limit.

use std::ops::Range;

use proptest::prelude::*;
use ropewalk_quantities::{Rate, Time};
use ropewalk_striping::tunnel::{Class, LinkTerms};

use crate::harness::{CLIENT, Harness, RELAY};

const MS: fn(u64) -> Time = Time::from_millis;
const STANDBY: LinkTerms = LinkTerms {
    standby: true,
    ..LinkTerms::DEFAULT
};
const IN_USE: LinkTerms = LinkTerms::DEFAULT;

fn both(harness: &mut Harness, link: usize, terms: LinkTerms) {
    for end in [CLIENT, RELAY] {
        harness.set_terms(end, link, terms);
    }
}

fn carried(harness: &Harness, link: usize) -> u64 {
    harness.links[link].bytes.iter().sum()
}

fn run_for(harness: &mut Harness, time: Time) {
    let until = harness.now + time;
    harness.run_until(until);
}

#[test]
fn standby_link_carries_nothing_for_an_hour() {
    let mut harness = Harness::new(&[10, 20, 30]);
    harness.expect_copies();
    run_for(&mut harness, MS(500));
    both(&mut harness, 1, STANDBY);
    run_for(&mut harness, MS(100));
    let before = carried(&harness, 1);
    for packet in 0..2000 {
        let class = [Class::Thin, Class::InStep, Class::Ordered][packet as usize % 3];
        harness.enqueue_of(class, packet as usize % 2, packet, 1000);
        run_for(&mut harness, MS(2));
    }
    run_for(&mut harness, Time::from_secs(3600));
    assert_eq!(harness.delivered.len(), 2000);
    assert_eq!(carried(&harness, 1), before);
    assert_eq!(harness.suspicions(CLIENT, 1), (0, false));
}

/// The first link goes on standby for the second while 15 packets are in flight.
fn change_over_while_packets_are_under_way(harness: &mut Harness) {
    for packet in 0..15 {
        harness.enqueue_of(Class::InStep, CLIENT, packet, 1000);
    }
    run_for(harness, MS(20));
    both(harness, 0, STANDBY);
    both(harness, 1, IN_USE);
    run_for(harness, Time::from_secs(2));
}

#[test]
fn packets_in_flight_at_standby_are_not_retransmitted() {
    let mut harness = Harness::new(&[100, 10]);
    run_for(&mut harness, Time::from_secs(1));
    both(&mut harness, 1, STANDBY);
    change_over_while_packets_are_under_way(&mut harness);
    assert_eq!(harness.delivered.len(), 15);
    assert_eq!(harness.repaired(CLIENT), 0);
}

#[test]
fn losses_of_standby_link_are_retransmitted_on_another() {
    let mut harness = Harness::new(&[100, 10, 110]);
    run_for(&mut harness, Time::from_secs(1));
    both(&mut harness, 1, STANDBY);
    harness.links[0].is_down = true;
    // Feedback about the third is first sent on the failed one: delivered packets are retransmitted.
    harness.expect_copies();
    change_over_while_packets_are_under_way(&mut harness);
    let came = harness.delivered.iter().map(|&(_, packet, _)| packet);
    assert!(came.eq(0..15));
}

#[test]
fn returning_link_carries_at_once() {
    let mut harness = Harness::new(&[10, 20]);
    run_for(&mut harness, Time::from_secs(1));
    both(&mut harness, 1, STANDBY);
    run_for(&mut harness, Time::from_secs(7200));
    harness.links[0].is_down = true;
    both(&mut harness, 0, STANDBY);
    both(&mut harness, 1, IN_USE);
    let begin = harness.now;
    harness.enqueue_of(Class::InStep, CLIENT, 1, 1000);
    run_for(&mut harness, Time::from_secs(1));
    assert_eq!(harness.delivered, [(RELAY, 1, begin + MS(20))]);
}

#[test]
fn rate_limit_of_link_holds_under_flood() {
    // Alone, after it was a pass-through link, and next to another; packets of every class.
    for (delays, class) in [
        (&[10][..], Class::InStep),
        (&[10][..], Class::Thin),
        (&[10, 15][..], Class::InStep),
    ] {
        let mut harness = Harness::new(delays);
        harness.expect_copies();
        run_for(&mut harness, Time::from_secs(1));
        let rate = Some(Rate::from_bps(800_000));
        both(&mut harness, 0, LinkTerms { rate, ..IN_USE });
        let bytes = flood(&mut harness, class);
        assert!(
            IN_TEN_SECONDS.contains(&bytes),
            "{delays:?} {class:?}: {bytes}"
        );
    }
}

/// 100 kB/s, a burst of 20 ms, feedback and probes of the path MTU.
const IN_TEN_SECONDS: Range<u64> = 900_000..1_020_000;

/// Bytes that the first link carries in ten seconds, with a backlog.
fn flood(harness: &mut Harness, class: Class) -> u64 {
    let before = harness.links[0].bytes[CLIENT];
    let begin = harness.now;
    let mut packet = 0;
    while harness.now < begin + Time::from_secs(10) {
        if harness.waiting(CLIENT) < 20_000 {
            packet += 1;
            harness.enqueue_of(class, CLIENT, packet, 1000);
        }
        run_for(harness, MS(1));
    }
    harness.links[0].bytes[CLIENT] - before
}

#[test]
fn rate_limit_holds_after_standby() {
    let mut harness = Harness::new(&[10, 15]);
    harness.expect_copies();
    run_for(&mut harness, Time::from_secs(1));
    let rate = Some(Rate::from_bps(800_000));
    for terms in [IN_USE, STANDBY, IN_USE] {
        both(&mut harness, 0, LinkTerms { rate, ..terms });
        run_for(&mut harness, Time::from_secs(1));
    }
    let bytes = flood(&mut harness, Class::InStep);
    assert!(IN_TEN_SECONDS.contains(&bytes), "{bytes}");
}

#[test]
fn suspicions_are_counted_across_standby() {
    let mut harness = Harness::new(&[10, 15]);
    harness.expect_copies();
    run_for(&mut harness, Time::from_secs(1));
    harness.links[0].is_down = true;
    for packet in 0..20 {
        harness.enqueue_of(Class::InStep, CLIENT, packet, 1000);
    }
    run_for(&mut harness, Time::from_secs(1));
    assert_eq!(harness.suspicions(CLIENT, 0), (1, true));
    harness.links[0].is_down = false;
    for terms in [STANDBY, IN_USE] {
        both(&mut harness, 0, terms);
        run_for(&mut harness, Time::from_secs(1));
    }
    assert_eq!(harness.suspicions(CLIENT, 0), (1, false));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// An end gets terms; the other one gets them later.
    Terms(usize, LinkTerms, u64),
    Dark(usize, bool),
    Packets(u32),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let terms = (any::<bool>(), prop::option::of(200_000..5_000_000_u64));
    let terms = terms.prop_map(|(standby, rate)| LinkTerms {
        standby,
        rate: rate.map(Rate::from_bps),
        ..IN_USE
    });
    prop_oneof![
        (1..3_usize, terms, 0..200_u64)
            .prop_map(|(link, terms, after)| Step::Terms(link, terms, after)),
        (0..3_usize, any::<bool>()).prop_map(|(link, down)| Step::Dark(link, down)),
        (1..60_u32).prop_map(Step::Packets),
        (1..3000_u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn packets_arrive_in_order_after_any_link_events(
        steps in prop::collection::vec(step(), 1..40),
        delays in prop::array::uniform3(1..300_u64),
    ) {
        let mut harness = Harness::new(&delays);
        harness.expect_copies();
        run_for(&mut harness, Time::from_secs(1));
        let mut sent = 0;
        for step in steps {
            match step {
                Step::Terms(link, terms, after) => {
                    harness.set_terms(CLIENT, link, terms);
                    run_for(&mut harness, MS(after));
                    harness.set_terms(RELAY, link, terms);
                }
                Step::Dark(link, down) => harness.links[link].is_down = down,
                Step::Packets(count) => for _ in 0..count {
                    if harness.waiting(CLIENT) > 150_000 {
                        break;
                    }
                    sent += 1;
                    harness.enqueue_of(Class::InStep, CLIENT, sent, 1000);
                },
                Step::Wait(ms) => run_for(&mut harness, MS(ms)),
            }
        }
        harness.links[0].is_down = false;
        run_for(&mut harness, Time::from_secs(30));
        harness.delivered.clear();
        let silent: Vec<usize> = (1..3).filter(|&link| harness.is_on_standby(link)).collect();
        let before: Vec<u64> = silent.iter().map(|&link| carried(&harness, link)).collect();
        for packet in 0..100 {
            harness.enqueue_of(Class::InStep, CLIENT, 1_000_000 + packet, 1000);
            run_for(&mut harness, MS(5));
        }
        run_for(&mut harness, Time::from_secs(5));
        let came = harness.delivered.iter().map(|&(_, packet, _)| packet);
        let wanted = 1_000_000..1_000_100;
        prop_assert!(came.clone().eq(wanted), "{:?}", came.collect::<Vec<_>>());
        let after: Vec<u64> = silent.iter().map(|&link| carried(&harness, link)).collect();
        prop_assert_eq!(before, after);
    }
}
