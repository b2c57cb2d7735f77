//! A tunnel without packets sends little, and carries the next packet at once.

use ropewalk_quantities::Time;

use crate::world::{CLIENT, RELAY, World};

const DAY: Time = Time::from_secs(86_400);
/// Both directions, on each link. The handshake every two minutes adds a quarter of a megabyte.
const MAX_BYTES_A_DAY: u64 = 700_000;

const MS: fn(u64) -> Time = Time::from_millis;

fn delay_of(world: &mut World, end: usize, packet: u32) -> Option<Time> {
    let sent = world.now;
    world.enqueue(end, packet, 100);
    world.run_until(sent + Time::from_secs(1));
    let came = world
        .delivered
        .iter()
        .find(|(_, number, _)| *number == packet);
    came.map(|(_, _, at)| *at - sent)
}

#[test]
fn an_idle_day_is_less_than_a_megabyte_a_link() {
    let mut world = World::new(&[10, 50]);
    let begin = world.now;
    world.run_until(begin + DAY);
    for (number, link) in world.links.iter().enumerate() {
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
        assert_eq!(world.suspicions(end, link), (0, false), "{end} {link}");
    }
}

#[test]
fn the_first_packet_after_an_idle_hour_goes_at_once() {
    let mut world = World::new(&[10, 50]);
    for hour in 1..=24 {
        world.run_until(Time::from_secs(3600 * hour));
        let end = hour as usize % 2;
        let delay = delay_of(&mut world, end, hour as u32).unwrap();
        assert_eq!(delay, MS(10), "hour {hour}");
    }
    for (end, link) in [(CLIENT, 0), (CLIENT, 1), (RELAY, 0), (RELAY, 1)] {
        assert_eq!(world.suspicions(end, link), (0, false), "{end} {link}");
    }
}

#[test]
fn packets_that_end_leave_no_suspicion() {
    // Interval in milliseconds, 40 of them one-way delay, then a pause that is longer than the tunnel takes
    // to become quiet, or about as long.
    for (gap, pause) in [(1, 900), (7, 1100), (20, 2100), (50, 5000), (100, 60_000)] {
        let mut world = World::new(&[10, 120]);
        let mut packet = 0;
        for round in 0..20 {
            for _ in 0..40 {
                packet += 1;
                world.enqueue(round % 2, packet, 1000);
                let next = world.now + MS(gap);
                world.run_until(next);
            }
            let next = world.now + MS(pause);
            world.run_until(next);
        }
        assert_eq!(world.delivered.len(), packet as usize, "{gap} {pause}");
        for (end, link) in [(CLIENT, 0), (CLIENT, 1), (RELAY, 0), (RELAY, 1)] {
            let suspicions = world.suspicions(end, link);
            assert_eq!(suspicions, (0, false), "{gap} {pause}: {end} {link}");
        }
    }
}

#[test]
fn a_link_that_died_while_idle_costs_what_one_that_dies_in_use_does() {
    let mut world = World::new(&[10, 50]);
    world.run_until(Time::from_secs(1000));
    world.links[0].is_dark = true;
    world.run_until(Time::from_secs(1003));
    let begin = world.now;
    for packet in 1..=50 {
        world.enqueue(CLIENT, packet, 100);
        let next = world.now + MS(20);
        world.run_until(next);
    }
    let (_, first, at) = world.delivered[0];
    println!(
        "packet {first} came first, {} after the first left",
        at - begin
    );
    assert!(at - begin < MS(400), "{}", at - begin);
    // It returns without delay while it is used.
    world.links[0].is_dark = false;
    let begin = world.now;
    while world.suspicions(CLIENT, 0).1 {
        world.enqueue(CLIENT, 99, 100);
        let next = world.now + MS(10);
        world.run_until(next);
    }
    assert!(world.now - begin < MS(200), "{}", world.now - begin);
}

#[test]
fn a_link_that_is_dead_while_idle_is_known_to_be_and_asked_ever_less() {
    let mut world = World::new(&[10, 50]);
    world.run_until(Time::from_secs(1000));
    world.links[0].is_dark = true;
    world.run_until(Time::from_secs(1030));
    assert!(world.suspicions(CLIENT, 0).1);
    // After a minute it returns within two seconds, after hours within ten.
    for (away, within) in [(60, 2), (20_000, 11)] {
        let begin = world.now;
        world.run_until(begin + Time::from_secs(away));
        world.links[0].is_dark = false;
        let back = world.now + Time::from_secs(within);
        world.run_until(back);
        assert!(!world.suspicions(CLIENT, 0).1, "after {away} s");
        world.links[0].is_dark = true;
        let next = world.now + Time::from_secs(60);
        world.run_until(next);
        assert!(world.suspicions(CLIENT, 0).1);
    }
    let before = world.links[0].bytes[CLIENT];
    let begin = world.now;
    world.run_until(begin + DAY);
    let bytes = world.links[0].bytes[CLIENT] - before;
    println!("a dead link: {bytes} bytes a day");
    assert!(bytes < MAX_BYTES_A_DAY, "{bytes}");
}

/// The figures are in docs/tunnel/how-it-works.md, "Quiet tunnels".
#[test]
fn packets_now_and_then_cost_what_the_page_says() {
    for delays in [&[10, 50][..], &[25, 30], &[50]] {
        let mut world = World::new(delays);
        world.run_until(Time::from_secs(5));
        let carried = |world: &World| world.links[0].bytes.iter().sum::<u64>();
        let before = carried(&world);
        for packet in 0..600 {
            world.enqueue(packet as usize % 2, packet, 100);
            let next = world.now + Time::from_secs(1);
            world.run_until(next);
        }
        let a_day = (carried(&world) - before) * 144;
        println!("{delays:?}: {a_day} bytes a day on the quickest link");
        assert!(a_day < 100_000_000, "{delays:?}: {a_day}");
    }
}
