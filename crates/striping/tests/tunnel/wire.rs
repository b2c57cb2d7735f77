//! A link alone as a wire: packets arrive one delay later, and none is retransmitted.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Class, LinkTerms};

use crate::world::{CLIENT, RELAY, World};

const DELAY: u64 = 20;

/// Delays of packets sent at an interval, in the order of arrival. The first link was down for the packets of
/// `dark`.
fn delays(links: &[u64], every: Time, dark: std::ops::Range<u32>) -> Vec<(u32, Time)> {
    let mut world = World::new(links);
    world.run_until(Time::from_secs(2));
    let mut sent = Vec::new();
    for number in 0..100 {
        world.links[0].is_dark = dark.contains(&number);
        world.enqueue_of(Class::InStep, CLIENT, number, 1400);
        sent.push(world.now);
        world.run_until(world.now + every);
    }
    world.run_until(world.now + Time::from_secs(1));
    let came = world.delivered.iter().filter(|&&(to, ..)| to == RELAY);
    came.map(|&(_, number, at)| (number, at - sent[number as usize]))
        .collect()
}

#[test]
fn a_burst_is_neither_paced_nor_held() {
    let came = delays(&[DELAY], Time::ZERO, 0..0);
    let whole = (0..100).map(|number| (number, Time::from_millis(DELAY)));
    assert!(came.iter().copied().eq(whole), "{came:?}");
    // Next to another link, the window limits a burst.
    let beside = delays(&[DELAY, DELAY], Time::ZERO, 0..0);
    let longest = beside.iter().map(|&(_, delay)| delay).max();
    assert!(longest > Some(Time::from_millis(DELAY * 2)), "{longest:?}");
}

#[test]
fn what_is_lost_is_not_waited_for() {
    let every = Time::from_millis(1);
    let came = delays(&[DELAY], every, 40..60);
    let left = (0..40).chain(60..100);
    let left = left.map(|number| (number, Time::from_millis(DELAY)));
    assert!(came.iter().copied().eq(left), "{came:?}");
    // Next to another link lost packets are retransmitted.
    let beside = delays(&[DELAY, DELAY], every, 40..60);
    assert!(beside.iter().map(|&(number, _)| number).eq(0..100));
}

#[test]
fn what_a_dead_wire_has_lost_is_not_waited_for_on_the_link_that_follows() {
    for delays in [[DELAY, DELAY], [DELAY, 3 * DELAY]] {
        let mut world = World::new(&delays);
        world.run_until(Time::from_secs(2));
        let terms = |standby| LinkTerms {
            standby,
            ..LinkTerms::default()
        };
        for end in [CLIENT, RELAY] {
            world.set_terms(end, 1, terms(true));
        }
        let mut sent = Vec::new();
        for number in 0..600 {
            world.links[0].is_dark = number >= 100;
            if number == 500 {
                for end in [CLIENT, RELAY] {
                    world.set_terms(end, 1, terms(false));
                }
            }
            world.enqueue_of(Class::InStep, CLIENT, number, 1400);
            sent.push(world.now);
            world.run_until(world.now + Time::from_millis(1));
        }
        world.run_until(world.now + Time::from_secs(1));
        assert!(world.suspicions(CLIENT, 0).1);
        // Those sent while the link was down are lost.
        let came = world.delivered.iter().map(|&(_, number, _)| number);
        assert!(came.eq((0..100).chain(500..600)), "{:?}", world.delivered);
        let (_, first, at) = world.delivered[100];
        assert_eq!(at - sent[first as usize], Time::from_millis(delays[1]));
    }
}
