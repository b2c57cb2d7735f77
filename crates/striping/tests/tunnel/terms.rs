//! Links on standby, and links with a rate limit.

use std::ops::Range;

use proptest::prelude::*;
use ropewalk_quantities::{Rate, Time};
use ropewalk_striping::tunnel::{Class, LinkTerms};

use crate::world::{CLIENT, RELAY, World};

const MS: fn(u64) -> Time = Time::from_millis;
const STANDBY: LinkTerms = LinkTerms {
    standby: true,
    ..LinkTerms::USUAL
};
const IN_USE: LinkTerms = LinkTerms::USUAL;

fn both(world: &mut World, link: usize, terms: LinkTerms) {
    for end in [CLIENT, RELAY] {
        world.set_terms(end, link, terms);
    }
}

fn carried(world: &World, link: usize) -> u64 {
    world.links[link].bytes.iter().sum()
}

fn run_for(world: &mut World, time: Time) {
    let until = world.now + time;
    world.run_until(until);
}

#[test]
fn a_link_on_standby_carries_nothing_in_an_hour_of_whatever() {
    let mut world = World::new(&[10, 20, 30]);
    world.expect_copies();
    run_for(&mut world, MS(500));
    both(&mut world, 1, STANDBY);
    run_for(&mut world, MS(100));
    let before = carried(&world, 1);
    for packet in 0..2000 {
        let class = [Class::Thin, Class::InStep, Class::Ordered][packet as usize % 3];
        world.enqueue_of(class, packet as usize % 2, packet, 1000);
        run_for(&mut world, MS(2));
    }
    run_for(&mut world, Time::from_secs(3600));
    assert_eq!(world.delivered.len(), 2000);
    assert_eq!(carried(&world, 1), before);
    assert_eq!(world.suspicions(CLIENT, 1), (0, false));
}

/// The first link goes on standby for the second while 15 packets are in flight.
fn change_over_while_packets_are_under_way(world: &mut World) {
    for packet in 0..15 {
        world.enqueue_of(Class::InStep, CLIENT, packet, 1000);
    }
    run_for(world, MS(20));
    both(world, 0, STANDBY);
    both(world, 1, IN_USE);
    run_for(world, Time::from_secs(2));
}

#[test]
fn what_is_on_its_way_when_a_link_goes_on_standby_is_not_sent_again() {
    let mut world = World::new(&[100, 10]);
    run_for(&mut world, Time::from_secs(1));
    both(&mut world, 1, STANDBY);
    change_over_while_packets_are_under_way(&mut world);
    assert_eq!(world.delivered.len(), 15);
    assert_eq!(world.repaired(CLIENT), 0);
}

#[test]
fn what_is_lost_on_a_link_that_goes_on_standby_goes_by_another() {
    let mut world = World::new(&[100, 10, 110]);
    run_for(&mut world, Time::from_secs(1));
    both(&mut world, 1, STANDBY);
    world.links[0].is_dark = true;
    // Feedback about the third is first sent on the failed one: delivered packets are retransmitted.
    world.expect_copies();
    change_over_while_packets_are_under_way(&mut world);
    let came = world.delivered.iter().map(|&(_, packet, _)| packet);
    assert!(came.eq(0..15));
}

#[test]
fn a_link_that_comes_back_carries_at_once() {
    let mut world = World::new(&[10, 20]);
    run_for(&mut world, Time::from_secs(1));
    both(&mut world, 1, STANDBY);
    run_for(&mut world, Time::from_secs(7200));
    world.links[0].is_dark = true;
    both(&mut world, 0, STANDBY);
    both(&mut world, 1, IN_USE);
    let begin = world.now;
    world.enqueue_of(Class::InStep, CLIENT, 1, 1000);
    run_for(&mut world, Time::from_secs(1));
    assert_eq!(world.delivered, [(RELAY, 1, begin + MS(20))]);
}

#[test]
fn a_link_is_kept_to_its_rate_whatever_it_is_given() {
    // Alone, after it was a wire, and next to another; packets of every class.
    for (delays, class) in [
        (&[10][..], Class::InStep),
        (&[10][..], Class::Thin),
        (&[10, 15][..], Class::InStep),
    ] {
        let mut world = World::new(delays);
        world.expect_copies();
        run_for(&mut world, Time::from_secs(1));
        let rate = Some(Rate::from_bps(800_000));
        both(&mut world, 0, LinkTerms { rate, ..IN_USE });
        let bytes = flood(&mut world, class);
        assert!(
            IN_TEN_SECONDS.contains(&bytes),
            "{delays:?} {class:?}: {bytes}"
        );
    }
}

/// 100 kB/s, a burst of 20 ms, feedback and probes of the path MTU.
const IN_TEN_SECONDS: Range<u64> = 900_000..1_020_000;

/// Bytes that the first link carries in ten seconds, with a backlog.
fn flood(world: &mut World, class: Class) -> u64 {
    let before = world.links[0].bytes[CLIENT];
    let begin = world.now;
    let mut packet = 0;
    while world.now < begin + Time::from_secs(10) {
        if world.waiting(CLIENT) < 20_000 {
            packet += 1;
            world.enqueue_of(class, CLIENT, packet, 1000);
        }
        run_for(world, MS(1));
    }
    world.links[0].bytes[CLIENT] - before
}

#[test]
fn a_link_that_comes_back_is_kept_to_its_rate() {
    let mut world = World::new(&[10, 15]);
    world.expect_copies();
    run_for(&mut world, Time::from_secs(1));
    let rate = Some(Rate::from_bps(800_000));
    for terms in [IN_USE, STANDBY, IN_USE] {
        both(&mut world, 0, LinkTerms { rate, ..terms });
        run_for(&mut world, Time::from_secs(1));
    }
    let bytes = flood(&mut world, Class::InStep);
    assert!(IN_TEN_SECONDS.contains(&bytes), "{bytes}");
}

#[test]
fn suspicions_are_counted_across_standby() {
    let mut world = World::new(&[10, 15]);
    world.expect_copies();
    run_for(&mut world, Time::from_secs(1));
    world.links[0].is_dark = true;
    for packet in 0..20 {
        world.enqueue_of(Class::InStep, CLIENT, packet, 1000);
    }
    run_for(&mut world, Time::from_secs(1));
    assert_eq!(world.suspicions(CLIENT, 0), (1, true));
    world.links[0].is_dark = false;
    for terms in [STANDBY, IN_USE] {
        both(&mut world, 0, terms);
        run_for(&mut world, Time::from_secs(1));
    }
    assert_eq!(world.suspicions(CLIENT, 0), (1, false));
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
        (0..3_usize, any::<bool>()).prop_map(|(link, dark)| Step::Dark(link, dark)),
        (1..60_u32).prop_map(Step::Packets),
        (1..3000_u64).prop_map(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn whatever_becomes_of_links_packets_come_in_order_once_there_is_one(
        steps in prop::collection::vec(step(), 1..40),
        delays in prop::array::uniform3(1..300_u64),
    ) {
        let mut world = World::new(&delays);
        world.expect_copies();
        run_for(&mut world, Time::from_secs(1));
        let mut sent = 0;
        for step in steps {
            match step {
                Step::Terms(link, terms, after) => {
                    world.set_terms(CLIENT, link, terms);
                    run_for(&mut world, MS(after));
                    world.set_terms(RELAY, link, terms);
                }
                Step::Dark(link, dark) => world.links[link].is_dark = dark,
                Step::Packets(count) => for _ in 0..count {
                    if world.waiting(CLIENT) > 150_000 {
                        break;
                    }
                    sent += 1;
                    world.enqueue_of(Class::InStep, CLIENT, sent, 1000);
                },
                Step::Wait(ms) => run_for(&mut world, MS(ms)),
            }
        }
        world.links[0].is_dark = false;
        run_for(&mut world, Time::from_secs(30));
        world.delivered.clear();
        let silent: Vec<usize> = (1..3).filter(|&link| world.is_on_standby(link)).collect();
        let before: Vec<u64> = silent.iter().map(|&link| carried(&world, link)).collect();
        for packet in 0..100 {
            world.enqueue_of(Class::InStep, CLIENT, 1_000_000 + packet, 1000);
            run_for(&mut world, MS(5));
        }
        run_for(&mut world, Time::from_secs(5));
        let came = world.delivered.iter().map(|&(_, packet, _)| packet);
        let wanted = 1_000_000..1_000_100;
        prop_assert!(came.clone().eq(wanted), "{:?}", came.collect::<Vec<_>>());
        let after: Vec<u64> = silent.iter().map(|&link| carried(&world, link)).collect();
        prop_assert_eq!(before, after);
    }
}
