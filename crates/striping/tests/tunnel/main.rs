//! One CUBIC connection through the tunnel, over the simulator's links.

mod world;

use ropewalk_network::Outage;
use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Scheduler, SenderConfig};
use world::{World, links};

const CASES: [(&str, &[(f64, u64)]); 6] = [
    ("20/20+20/20", &[(20.0, 20), (20.0, 20)]),
    ("20/20+10/60", &[(20.0, 20), (10.0, 60)]),
    ("20/20+5/200", &[(20.0, 20), (5.0, 200)]),
    ("50/10+10/100", &[(50.0, 10), (10.0, 100)]),
    ("four", &[(35.9, 40), (18.4, 50), (33.3, 60), (14.7, 80)]),
    (
        "eight",
        &[
            (35.9, 40),
            (18.4, 50),
            (33.3, 60),
            (14.7, 80),
            (14.8, 70),
            (4.4, 120),
            (22.5, 45),
            (12.5, 55),
        ],
    ),
];

/// song-2018's device and weights, with rate control and order, and the default.
fn with(scheduler: Scheduler) -> SenderConfig {
    SenderConfig {
        scheduler,
        ..SenderConfig::default()
    }
}

/// Steady goodput over the sum of raw rates, for 12 s from 3 s.
fn share(plan: &[(f64, u64)], scheduler: Scheduler) -> (f64, String) {
    let mut world = World::new(&links(plan), with(scheduler));
    world.connect();
    world.run_until(world.now + Time::from_secs(3));
    let share = world.goodput_over(Time::from_secs(12));
    (share, world.describe())
}

#[test]
fn one_connection_gets_the_sum_of_unequal_links() {
    for (name, plan) in CASES {
        let (share, state) = share(plan, Scheduler::EarliestArrival);
        // Headers take eight parts in a hundred; what is left is as good as all.
        assert!(share > 0.89, "{name}: {share:.3} {state}");
    }
}

#[test]
fn in_turn_the_slowest_link_sets_the_pace() {
    let (share, state) = share(CASES[2].1, Scheduler::RoundRobin);
    assert!((0.25..0.38).contains(&share), "{share:.3} {state}");
}

#[test]
fn a_dark_link_is_left_and_used_again() {
    let mut plan = links(CASES[1].1);
    plan[1].down = vec![Outage {
        start: Time::from_secs(6),
        end: Time::from_secs(9),
    }];
    let mut world = World::new(&plan, with(Scheduler::EarliestArrival));
    world.connect();
    world.run_until(Time::from_secs(8));
    let alone = world.goodput_over(Time::from_secs(1));
    assert!(alone > 0.58, "{alone:.3} {}", world.describe());
    world.run_until(Time::from_secs(12));
    let both = world.goodput_over(Time::from_secs(3));
    assert!(both > 0.85, "{both:.3} {}", world.describe());
}

/// Longest time without a byte while a link goes dark at 5 s under a bulk transfer.
fn longest_gap(plan: &[(f64, u64)], dark: usize) -> (Time, String) {
    let mut plan = links(plan);
    let start = Time::from_secs(5);
    plan[dark].down = vec![Outage {
        start,
        end: Time::from_secs(30),
    }];
    let mut world = World::new(&plan, with(Scheduler::EarliestArrival));
    world.connect();
    world.run_until(start);
    let (mut longest, mut since, mut delivered) = (Time::ZERO, start, world.delivered());
    while world.now < Time::from_secs(10) {
        world.run_until(world.now + Time::from_millis(1));
        if world.delivered() > delivered {
            (since, delivered) = (world.now, world.delivered());
        }
        longest = longest.max(world.now - since);
    }
    (longest, world.describe())
}

#[test]
fn a_silent_outage_is_a_short_gap() {
    // What the dark link held is sent again by the TCP inside: behind what waits already, and over
    // 5 Mbit/s that is long.
    let cases = [(CASES[0], 0, 150), (CASES[2], 0, 1200), (CASES[2], 1, 250)];
    for ((name, plan), dark, most) in cases {
        let (gap, state) = longest_gap(plan, dark);
        assert!(
            gap <= Time::from_millis(most),
            "{name}, {dark} dark: {gap} {state}"
        );
    }
}
