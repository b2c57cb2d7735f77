//! A tunnel without packets sends little, and carries the next packet at once.

use ropewalk_quantities::Time;

use crate::harness::{CLIENT, Harness, RELAY};

const DAY: Time = Time::from_secs(86_400);
/// Both directions, on each link. The handshake every two minutes adds a quarter of a megabyte.
const MAX_BYTES_A_DAY: u64 = 700_000;

const MS: fn(u64) -> Time = Time::from_millis;

fn delay_of(harness: &mut Harness, end: usize, packet: u32) -> Option<Time> {
    let sent = harness.now;
    harness.enqueue(end, packet, 100);
    harness.run_until(sent + Time::from_secs(1));
    let came = harness
        .delivered
        .iter()
        .find(|(_, number, _)| *number == packet);
    came.map(|(_, _, at)| *at - sent)
}

#[test]
fn an_idle_day_is_less_than_a_megabyte_a_link() {
    let mut harness = Harness::new(&[10, 50]);
    let begin = harness.now;
    harness.run_until(begin + DAY);
    for (number, link) in harness.links.iter().enumerate() {
        println!("link {number}: {:?} bytes a day", link.bytes);
        assert!(
            link.bytes.iter().sum::<u64>() < MAX_BYTES_A_DAY,
            "{:?}",
            link.bytes
        );
        assert!(
            link.bytes.iter().sum::<u64>() > MAX_BYTES_A_DAY / 2,
            "{:?}",
            link.bytes
        );
    }
    for (end, link) in [(CLIENT, 0), (CLIENT, 1), (RELAY, 0), (RELAY, 1)] {
        assert_eq!(harness.suspicions(end, link), (0, false), "{end} {link}");
    }
}

#[test]
fn the_first_packet_after_an_idle_hour_goes_at_once() {
    let mut harness = Harness::new(&[10, 50]);
    for hour in 1..=24 {
        harness.run_until(Time::from_secs(3600 * hour));
        let end = hour as usize % 2;
        let delay = delay_of(&mut harness, end, hour as u32).unwrap();
        assert_eq!(delay, MS(10), "hour {hour}");
    }
    for (end, link) in [(CLIENT, 0), (CLIENT, 1), (RELAY, 0), (RELAY, 1)] {
        assert_eq!(harness.suspicions(end, link), (0, false), "{end} {link}");
    }
}

#[test]
fn packets_that_end_leave_no_suspicion() {
    // Interval in milliseconds, 40 of them one-way delay, then a pause that is longer than the tunnel takes
    // to become quiet, or about as long.
    for (gap, pause) in [(1, 900), (7, 1100), (20, 2100), (50, 5000), (100, 60_000)] {
        let mut harness = Harness::new(&[10, 120]);
        harness.expect_copies();
        let mut packet = 0;
        for round in 0..20 {
            for _ in 0..40 {
                packet += 1;
                harness.enqueue(round % 2, packet, 1000);
                let next = harness.now + MS(gap);
                harness.run_until(next);
            }
            let next = harness.now + MS(pause);
            harness.run_until(next);
        }
        assert_eq!(harness.delivered.len(), packet as usize, "{gap} {pause}");
        for (end, link) in [(CLIENT, 0), (CLIENT, 1), (RELAY, 0), (RELAY, 1)] {
            let suspicions = harness.suspicions(end, link);
            assert_eq!(suspicions, (0, false), "{gap} {pause}: {end} {link}");
        }
    }
}

#[test]
fn link_that_died_idle_costs_as_much_as_one_in_use() {
    let mut harness = Harness::new(&[10, 50]);
    harness.run_until(Time::from_secs(1000));
    harness.links[0].is_down = true;
    harness.run_until(Time::from_secs(1003));
    let begin = harness.now;
    for packet in 1..=50 {
        harness.enqueue(CLIENT, packet, 100);
        let next = harness.now + MS(20);
        harness.run_until(next);
    }
    let (_, first, at) = harness.delivered[0];
    println!(
        "packet {first} came first, {} after the first left",
        at - begin
    );
    assert!(at - begin < MS(400), "{}", at - begin);
    // It returns without delay while it is used.
    harness.links[0].is_down = false;
    let begin = harness.now;
    while harness.suspicions(CLIENT, 0).1 {
        harness.enqueue(CLIENT, 99, 100);
        let next = harness.now + MS(10);
        harness.run_until(next);
    }
    assert!(harness.now - begin < MS(200), "{}", harness.now - begin);
}

#[test]
fn dead_idle_link_is_pinged_ever_less() {
    let mut harness = Harness::new(&[10, 50]);
    harness.run_until(Time::from_secs(1000));
    harness.links[0].is_down = true;
    harness.run_until(Time::from_secs(1030));
    assert!(harness.suspicions(CLIENT, 0).1);
    // After a minute it returns within two seconds, after hours within ten.
    for (away, within) in [(60, 2), (20_000, 11)] {
        let begin = harness.now;
        harness.run_until(begin + Time::from_secs(away));
        harness.links[0].is_down = false;
        let back = harness.now + Time::from_secs(within);
        harness.run_until(back);
        assert!(!harness.suspicions(CLIENT, 0).1, "after {away} s");
        harness.links[0].is_down = true;
        let next = harness.now + Time::from_secs(60);
        harness.run_until(next);
        assert!(harness.suspicions(CLIENT, 0).1);
    }
    let before = harness.links[0].bytes[CLIENT];
    let begin = harness.now;
    harness.run_until(begin + DAY);
    let bytes = harness.links[0].bytes[CLIENT] - before;
    println!("a dead link: {bytes} bytes a day");
    assert!(bytes < MAX_BYTES_A_DAY, "{bytes}");
}

/// The figures are in docs/tunnel/how-it-works.md, "Quiet tunnels".
#[test]
fn occasional_packets_cost_documented_bytes() {
    for delays in [&[10, 50][..], &[25, 30], &[50]] {
        let mut harness = Harness::new(delays);
        harness.run_until(Time::from_secs(5));
        let carried = |harness: &Harness| harness.links[0].bytes.iter().sum::<u64>();
        let before = carried(&harness);
        for packet in 0..600 {
            harness.enqueue(packet as usize % 2, packet, 100);
            let next = harness.now + Time::from_secs(1);
            harness.run_until(next);
        }
        let a_day = (carried(&harness) - before) * 144;
        println!("{delays:?}: {a_day} bytes a day on the quickest link");
        assert!(a_day < 100_000_000, "{delays:?}: {a_day}");
    }
}
