//! Links of a constant rate, by examples: 10 Mbit/s sends 1500 bytes in 1.2 ms.

mod support;

use ropewalk_network::{Capacity, Counters, Offer, Outage, QueueLimit};
use ropewalk_quantities::{Bytes, Rate, Time};
use support::{OUTAGE, QUEUE_FULL, Wire, drain, link, rate_config, us};

#[test]
fn a_packet_takes_its_transmission_time_and_the_delay() {
    let mut link: Wire<u32> = link(&rate_config());
    assert_eq!(link.head(), None);
    assert_eq!(link.push(us(100), 1500, 7, 42), Offer::Accepted);
    assert_eq!(link.in_flight(), 1);
    assert_eq!(link.head(), Some((us(100 + 1_200 + 20_000), 7)));
    assert_eq!(link.pop(), (us(21_300), 1500, &42));
    assert_eq!(link.head(), None);
}

#[test]
fn packets_are_sent_one_after_the_other() {
    let mut link = link(&rate_config());
    assert_eq!(link.push(us(0), 1500, 0, 0), Offer::Accepted);
    assert_eq!(link.push(us(1_000), 500, 1, 1), Offer::Accepted);
    assert_eq!(link.push(us(1_600), 1500, 2, 2), Offer::Accepted);
    assert_eq!(link.push(us(9_000), 1500, 3, 3), Offer::Accepted);
    let exits: Vec<Time> = drain(&mut link).into_iter().map(|(exit, _)| exit).collect();
    assert_eq!(exits, [us(21_200), us(21_600), us(22_800), us(30_200)]);
}

#[test]
fn packet_in_transmission_is_not_queued() {
    let mut config = rate_config();
    config.queue = QueueLimit::Packets(2);
    let mut link = link(&config);
    let mut offer = |now, packet| link.push(now, 1500, packet, packet);
    assert_eq!(offer(us(0), 0), Offer::Accepted); // sent at once
    assert_eq!(offer(us(0), 1), Offer::Accepted);
    assert_eq!(offer(us(0), 2), Offer::Accepted);
    assert_eq!(offer(us(0), 3), QUEUE_FULL);
    assert_eq!(offer(us(1_199), 4), QUEUE_FULL);
    assert_eq!(offer(us(1_200), 5), Offer::Accepted); // 1 has just left the queue
    assert_eq!(offer(us(1_200), 6), QUEUE_FULL);
    assert_eq!(offer(us(2_400), 7), Offer::Accepted);
    let packets: Vec<u64> = drain(&mut link).into_iter().map(|(_, p)| p).collect();
    assert_eq!(packets, [0, 1, 2, 5, 7]);
    assert_eq!(
        link.counters(),
        Counters {
            sent_packets: 5,
            sent_bytes: 7_500,
            lost_packets: 0,
            dropped_packets: 3,
            delivered_packets: 5,
            delivered_bytes: 7_500,
        }
    );
}

#[test]
fn empty_queue_limit_still_transmits() {
    let mut config = rate_config();
    config.queue = QueueLimit::Packets(0);
    let mut link = link(&config);
    assert_eq!(link.push(us(0), 1500, 0, 0), Offer::Accepted);
    assert_eq!(link.push(us(1_199), 1500, 1, 1), QUEUE_FULL);
    assert_eq!(link.push(us(1_200), 1500, 2, 2), Offer::Accepted);
}

#[test]
fn byte_limit_accepts_small_packets_when_large_ones_do_not_fit() {
    let mut config = rate_config();
    config.queue = QueueLimit::Bytes(Bytes::new(2_000));
    let mut link = link(&config);
    assert_eq!(link.push(us(0), 1500, 0, 0), Offer::Accepted);
    assert_eq!(link.push(us(0), 1500, 1, 1), Offer::Accepted);
    assert_eq!(link.push(us(0), 501, 2, 2), QUEUE_FULL);
    assert_eq!(link.push(us(0), 500, 3, 3), Offer::Accepted);
    assert_eq!(link.backlog(us(1_199)), (2, Bytes::new(2_000)));
    assert_eq!(link.backlog(us(1_200)), (1, Bytes::new(500)));
    assert_eq!(link.backlog(us(2_400)), (0, Bytes::new(0)));
}

#[test]
fn bdp_limit_uses_the_base_round_trip() {
    let mut config = rate_config();
    // 10 Mbit/s x 40 ms = 50,000 bytes: 33 packets are queued and one is transmitted.
    config.queue = QueueLimit::Bdp(1.0);
    assert_eq!(support::accepted_at_once(&config, 100), 34);
    config.queue = QueueLimit::Bdp(0.5);
    assert_eq!(support::accepted_at_once(&config, 100), 17);
    // The queue holds at least two packets.
    config.queue = QueueLimit::Bdp(0.001);
    assert_eq!(support::accepted_at_once(&config, 100), 3);
}

#[test]
fn an_unlimited_link_only_delays() {
    let mut config = rate_config();
    config.capacity = Capacity::Unlimited;
    config.queue = QueueLimit::Packets(0);
    let mut link = link(&config);
    for order in 0..1_000 {
        assert_eq!(link.push(us(5), 1500, order, ()), Offer::Accepted);
    }
    assert_eq!(link.head(), Some((us(20_005), 0)));
    assert_eq!(link.backlog(us(5)), (0, Bytes::new(0)));
    assert_eq!(link.transmitted(us(5)), Bytes::new(1_500_000));
    assert_eq!(link.capacity_between(us(0), us(5)), None);
}

#[test]
fn a_rate_of_zero_delivers_nothing() {
    let mut config = rate_config();
    config.capacity = Capacity::Rate(Rate::from_bps(0));
    config.queue = QueueLimit::Packets(1);
    let mut link = link(&config);
    assert_eq!(link.push(us(0), 1500, 0, ()), OUTAGE);
    assert_eq!(link.push(us(9), 1500, 1, ()), OUTAGE);
    assert_eq!(link.push(us(9), 1500, 2, ()), QUEUE_FULL);
    assert_eq!(link.head(), None);
}

#[test]
fn transmitted_bytes_are_exact() {
    let mut link = link(&rate_config());
    for order in 0..10 {
        assert_eq!(link.push(us(0), 1500, order, ()), Offer::Accepted);
    }
    assert_eq!(link.transmitted(us(0)), Bytes::new(0));
    assert_eq!(link.transmitted(us(600)), Bytes::new(750));
    assert_eq!(link.transmitted(us(1_200)), Bytes::new(1_500));
    assert_eq!(link.transmitted(us(6_600)), Bytes::new(8_250));
    assert_eq!(link.transmitted(us(12_000)), Bytes::new(15_000));
    let capacity = link.capacity_between(us(0), us(12_000));
    assert_eq!(capacity, Some(Bytes::new(15_000)));
}

#[test]
fn outage_loses_queued_and_arriving_packets() {
    let config = rate_config();
    let down = [Outage {
        start: us(30_000),
        end: us(40_000),
    }];
    let mut link = support::link_with(&config, &down);
    let mut offer = |now, packet| link.push(now, 1500, packet, packet);
    assert_eq!(offer(us(8_799), 0), Offer::Accepted); // comes out at 29,999
    assert_eq!(offer(us(9_999), 1), OUTAGE); // would come out at 31,199
    assert_eq!(offer(us(29_999), 2), OUTAGE);
    assert_eq!(offer(us(29_999), 3), OUTAGE);
    assert_eq!(offer(us(30_000), 4), OUTAGE);
    assert_eq!(offer(us(39_999), 5), OUTAGE);
    assert_eq!(offer(us(40_000), 6), Offer::Accepted); // and finds the link idle
    assert_eq!(link.pop(), (us(29_999), 1500, &0));
    assert_eq!(link.pop(), (us(61_200), 1500, &6));
    assert_eq!(link.counters().sent_packets, 7);
    assert_eq!(link.counters().lost_packets, 5);
    // Packets 0, 1, 6, and the first microsecond of 2 (1.25 bytes).
    assert_eq!(link.transmitted(us(50_000)), Bytes::new(3 * 1_500 + 1));
}

#[test]
fn an_outage_empties_the_queue() {
    let down = [Outage {
        start: us(1_000),
        end: us(2_000),
    }];
    let mut link = support::link_with(&rate_config(), &down);
    for order in 0..50 {
        assert_eq!(link.push(us(0), 1500, order, ()), OUTAGE);
    }
    assert_eq!(link.backlog(us(999)), (49, Bytes::new(49 * 1500)));
    assert_eq!(link.backlog(us(1_000)), (0, Bytes::new(0)));
    assert_eq!(link.transmitted(us(1_500)), Bytes::new(1_250));
    assert_eq!(link.backlog(us(2_000)), (0, Bytes::new(0)));
    assert_eq!(link.push(us(2_000), 1500, 50, ()), Offer::Accepted);
    assert_eq!(link.head(), Some((us(23_200), 50)));
}

#[test]
fn capacity_excludes_outages() {
    let down = [(1, 2), (2, 3), (5, 5), (7, 9)].map(|(start, end)| Outage {
        start: Time::from_secs(start),
        end: Time::from_secs(end),
    });
    let link: Wire<()> = support::link_with(&rate_config(), &down);
    let megabytes = |from_ms: u64, to_ms: u64| {
        let (from, to) = (Time::from_millis(from_ms), Time::from_millis(to_ms));
        link.capacity_between(from, to).unwrap().as_u64() as f64 / 1e6
    };
    assert_eq!(megabytes(0, 1_000), 1.25);
    assert_eq!(megabytes(500, 3_500), 1.25);
    assert_eq!(megabytes(1_500, 2_500), 0.0);
    assert_eq!(megabytes(0, 10_000), 7.5);
    assert_eq!(megabytes(8_000, 10_000), 1.25);
    assert_eq!(megabytes(4_000, 4_000), 0.0);
}
