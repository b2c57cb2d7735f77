//! Urgent packets and those of thin flows, over links that lose datagrams.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Class, LinkTerms};

use crate::harness::{CLIENT, Harness, RELAY};

const MS: fn(u64) -> Time = Time::from_millis;

/// A tunnel over links with these delays and losses per 1000 datagrams.
fn lossy(links: &[(u64, u32)]) -> Harness {
    let delays: Vec<u64> = links.iter().map(|(delay, _)| *delay).collect();
    let mut harness = Harness::new(&delays);
    harness.expect_copies();
    harness.run_until(Time::from_secs(3));
    for (link, (_, lost)) in harness.links.iter_mut().zip(links) {
        link.lost_of_1000 = *lost;
    }
    harness
}

/// Delays of packets of 100 bytes that the relay receives, by number; `None` for a lost one. `change` alters
/// the tunnel before each is sent.
fn delays(
    harness: &mut Harness,
    class: Class,
    (packets, every): (u32, Time),
    change: impl Fn(&mut Harness, u32),
) -> Vec<Option<Time>> {
    let mut sent = Vec::new();
    for number in 0..packets {
        change(harness, number);
        sent.push(harness.now);
        harness.enqueue_of(class, CLIENT, number, 100);
        harness.run_until(harness.now + every);
    }
    harness.run_until(harness.now + Time::from_secs(1));
    let mut delays = vec![None; sent.len()];
    for &(to, number, at) in &harness.delivered {
        assert_eq!(to, RELAY);
        let delay = &mut delays[number as usize];
        assert!(delay.is_none(), "{number} came twice");
        *delay = Some(at - sent[number as usize]);
    }
    delays
}

fn percentile(delays: &[Option<Time>], percent: usize) -> Time {
    let mut arrived: Vec<Time> = delays.iter().copied().flatten().collect();
    arrived.sort();
    arrived[(arrived.len() - 1) * percent / 100]
}

const CLASSES: [Class; 2] = [Class::Thin, Class::Urgent];
/// A ping, and a call.
const RATES: [(u32, Time); 2] = [(1000, Time::from_secs(1)), (5000, MS_20)];
const MS_20: Time = Time::from_millis(20);

#[test]
fn urgent_packets_lost_on_a_link_arrive_within_two_retransmissions() {
    let cases = [
        &[(10, 20), (15, 0)][..],
        &[(10, 20), (15, 20)],
        &[(10, 20), (100, 0)],
        &[(10, 20), (200, 0)],
        &[(10, 20), (30, 20), (50, 0)],
        &[(10, 0), (15, 0)],
    ];
    for links in cases {
        for (class, rate) in CLASSES.into_iter().zip(RATES) {
            let mut harness = lossy(links);
            let delays = delays(&mut harness, class, rate, |_, _| ());
            let lost = delays.iter().filter(|delay| delay.is_none()).count();
            let longest = percentile(&delays, 100);
            let slowest = links.iter().map(|(delay, _)| MS(*delay)).max().unwrap();
            println!(
                "{links:?} {class:?}: {lost} lost, 50 % {}, 99 % {}, 100 % {longest}, {} sent again",
                percentile(&delays, 50),
                percentile(&delays, 99),
                harness.repaired(CLIENT),
            );
            assert_eq!(lost, 0, "{links:?} {class:?}");
            assert!(
                longest <= slowest + MS(150),
                "{links:?} {class:?}: {longest}"
            );
            let sent_again = harness.repaired(CLIENT) as usize;
            assert!(sent_again <= delays.len() / 15, "{sent_again}");
            assert!(links[0].1 > 0 || sent_again == 0, "{sent_again}");
        }
    }
}

#[test]
fn losses_of_the_quicker_link_cost_a_call_the_delay_of_a_clean_one() {
    let of = |links| {
        let mut harness = lossy(links);
        let delays = delays(&mut harness, Class::Thin, RATES[1], |_, _| ());
        (percentile(&delays, 50), percentile(&delays, 99))
    };
    // The lossy link has the copies.
    assert_eq!(of(&[(10, 20), (15, 0)]), (MS(10), MS(15)));
    let (median, most) = of(&[(10, 20), (60, 0)]);
    assert!(median == MS(10) && most <= MS(40), "{median} {most}");
}

#[test]
fn urgent_packets_stay_on_a_lossy_link_while_a_clean_one_is_on_standby() {
    let standby = LinkTerms {
        standby: true,
        ..LinkTerms::DEFAULT
    };
    for class in CLASSES {
        let mut harness = lossy(&[(10, 50), (15, 0)]);
        for end in [CLIENT, RELAY] {
            harness.set_terms(end, 1, standby);
        }
        harness.run_until(harness.now + Time::from_secs(1));
        let carried = |harness: &Harness| harness.links[1].bytes.iter().sum::<u64>();
        let before = carried(&harness);
        let delays = delays(&mut harness, class, (2000, MS_20), |_, _| ());
        assert_eq!(carried(&harness), before, "{class:?}");
        // Packets that a single link loses before it counts as lossy are not retransmitted.
        let arrived = delays.iter().flatten().count();
        assert!(arrived >= 1900, "{class:?}: {arrived}");
    }
}

#[test]
fn urgent_packets_survive_a_dead_link() {
    for down in [0, 1] {
        let mut harness = lossy(&[(20, 0), (30, 0)]);
        let delays = delays(
            &mut harness,
            Class::Thin,
            (1000, MS_20),
            |harness, number| {
                harness.links[down].is_down = (250..750).contains(&number);
            },
        );
        let longest = percentile(&delays, 100);
        assert!(
            delays.iter().all(Option::is_some) && longest <= MS(150),
            "{longest}"
        );
    }
}

#[test]
fn lost_pure_acks_are_not_retransmitted() {
    let mut harness = lossy(&[(10, 50), (15, 50)]);
    let delays = delays(&mut harness, Class::Unordered, RATES[1], |_, _| ());
    assert!(delays.iter().any(Option::is_none));
    assert_eq!(harness.repaired(CLIENT), 0);
}
