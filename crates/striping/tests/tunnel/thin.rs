//! Connections that send little.

use proptest::prelude::*;
use ropewalk_quantities::{Rate, Time};
use ropewalk_striping::tunnel::{Class, LinkTerms};

use crate::harness::{CLIENT, Harness, RELAY};

const MS: fn(u64) -> Time = Time::from_millis;

/// Delays of packets of 200 bytes, sent each 10 ms for five seconds after the connection was opened.
fn delays() -> Vec<Time> {
    let mut harness = Harness::new(&[10, 50]);
    harness.run_until(Time::from_secs(3));
    harness.enqueue_of(Class::Opening, CLIENT, 0, 60);
    let mut sent = vec![harness.now];
    for packet in 1..500 {
        let next = harness.now + MS(10);
        harness.run_until(next);
        sent.push(harness.now);
        harness.enqueue_of(Class::InStep, CLIENT, packet, 200);
    }
    let end = harness.now + MS(500);
    harness.run_until(end);
    let arrived = harness.delivered.iter().filter(|(end, ..)| *end == RELAY);
    let delays: Vec<Time> = arrived
        .map(|(_, packet, at)| *at - sent[*packet as usize])
        .collect();
    assert_eq!(delays.len(), sent.len());
    delays
}

#[test]
fn a_connection_that_stays_thin_has_the_quickest_links_delay() {
    let delays = delays();
    assert!(
        delays[1..150].iter().all(|delay| *delay >= MS(45)),
        "{delays:?}"
    );
    assert!(
        delays[250..].iter().all(|delay| *delay <= MS(11)),
        "{delays:?}"
    );
}

/// Packets of a connection in order of arrival, given length and interval of each, while the quickest link
/// has a rate limit.
fn arrivals(delays: [u64; 3], rate: u64, packets: &[(u32, u64)]) -> Vec<u32> {
    let mut harness = Harness::new(&delays);
    harness.expect_copies();
    harness.run_until(Time::from_secs(3));
    let quickest = (0..3).min_by_key(|&link| delays[link]).unwrap();
    let rate = Some(Rate::from_bps(rate));
    for end in [CLIENT, RELAY] {
        harness.set_terms(
            end,
            quickest,
            LinkTerms {
                rate,
                ..LinkTerms::DEFAULT
            },
        );
    }
    for (number, &(bytes, pause)) in (0..).zip(packets) {
        harness.enqueue_of(Class::InStep, CLIENT, number, bytes);
        let next = harness.now + MS(pause);
        harness.run_until(next);
    }
    let end = harness.now + Time::from_secs(10);
    harness.run_until(end);
    let arrived = harness.delivered.iter().filter(|(end, ..)| *end == RELAY);
    arrived.map(|&(_, packet, _)| packet).collect()
}

#[test]
fn packets_that_no_longer_go_first_are_not_overtaken() {
    // The queue of the quickest link is longer than the share that may go before others: the rest is sent
    // with these, and later packets behind that.
    let arrived = arrivals([180, 142, 245], 200_000, &[(1000, 5); 100]);
    assert!(arrived.iter().copied().eq(0..100), "{arrived:?}");
}

proptest! {
    #[test]
    fn a_connection_that_sends_more_and_less_stays_in_order(
        delays in prop::array::uniform3(1..300_u64),
        rate in 100_000..5_000_000_u64,
        spells in prop::collection::vec((1..80_usize, 40..1400_u32, 0..100_u64, 0..4000_u64), 1..6),
    ) {
        let mut packets = Vec::new();
        for (count, bytes, between, pause) in spells {
            packets.extend(std::iter::repeat_n((bytes, between), count));
            packets.push((bytes, pause));
        }
        let arrived = arrivals(delays, rate, &packets);
        let sent = packets.len() as u32;
        prop_assert!(arrived.iter().copied().eq(0..sent), "{arrived:?}");
    }
}
