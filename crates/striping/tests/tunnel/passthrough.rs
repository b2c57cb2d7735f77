//! A link alone as a pass-through link: packets arrive one delay later, and none is retransmitted.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Class, LinkTerms};

use crate::harness::{CLIENT, Harness, RELAY};

const DELAY: u64 = 20;

/// Delays of packets sent at an interval, in the order of arrival. The first link was down for the packets of
/// `down`.
fn delays(links: &[u64], every: Time, down: std::ops::Range<u32>) -> Vec<(u32, Time)> {
    let mut harness = Harness::new(links);
    harness.run_until(Time::from_secs(2));
    let mut sent = Vec::new();
    for number in 0..100 {
        harness.links[0].is_down = down.contains(&number);
        harness.enqueue_of(Class::InStep, CLIENT, number, 1400);
        sent.push(harness.now);
        harness.run_until(harness.now + every);
    }
    harness.run_until(harness.now + Time::from_secs(1));
    let came = harness.delivered.iter().filter(|&&(to, ..)| to == RELAY);
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
fn lost_packets_do_not_delay_later_ones() {
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
fn losses_of_failed_passthrough_do_not_delay_next_link() {
    for delays in [[DELAY, DELAY], [DELAY, 3 * DELAY]] {
        let mut harness = Harness::new(&delays);
        harness.run_until(Time::from_secs(2));
        let terms = |standby| LinkTerms {
            standby,
            ..LinkTerms::default()
        };
        for end in [CLIENT, RELAY] {
            harness.set_terms(end, 1, terms(true));
        }
        let mut sent = Vec::new();
        for number in 0..600 {
            harness.links[0].is_down = number >= 100;
            if number == 500 {
                for end in [CLIENT, RELAY] {
                    harness.set_terms(end, 1, terms(false));
                }
            }
            harness.enqueue_of(Class::InStep, CLIENT, number, 1400);
            sent.push(harness.now);
            harness.run_until(harness.now + Time::from_millis(1));
        }
        harness.run_until(harness.now + Time::from_secs(1));
        assert!(harness.suspicions(CLIENT, 0).1);
        // Those sent while the link was down are lost.
        let came = harness.delivered.iter().map(|&(_, number, _)| number);
        assert!(came.eq((0..100).chain(500..600)), "{:?}", harness.delivered);
        let (_, first, at) = harness.delivered[100];
        assert_eq!(at - sent[first as usize], Time::from_millis(delays[1]));
    }
}
