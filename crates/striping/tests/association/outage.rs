//! Outage or slowdown of a link under a bulk stream: the longest time without a byte, and the use of the link
//! afterwards.

use ropewalk_quantities::Time;
use ropewalk_striping::{Config, Length};

use crate::bulk::Bulk;
use crate::goodput::links;
use crate::world::{FAR, World};

fn received(world: &World<Length>, link: usize) -> u64 {
    let carriers = world.ends[FAR].carriers();
    carriers
        .filter_map(|id| world.ends[FAR].carrier_statistics(id))
        .filter(|carrier| carrier.link == link as u32)
        .map(|carrier| carrier.received.as_u64())
        .sum()
}

/// The longest gap from the outage at 5 s on, and the used share of the link in the second that begins 1 s
/// after its return at 8 s.
fn outage(list: &[(f64, u64)], link: usize) -> (Time, f64) {
    let mut links = links(list);
    links[link].fall_silent(Time::from_secs(5), Time::from_secs(8));
    let mut world = World::new(links, [Config::default(), Config::default()]);
    let mut apps = Bulk::timed_from(Time::from_secs(5));
    world.at(Time::from_millis(1), 0);
    world.run(&mut apps, Time::from_secs(9));
    let before = received(&world, link);
    world.run(&mut apps, Time::from_secs(10));
    assert_eq!(world.violations, [""; 0]);
    let bits = (received(&world, link) - before) as f64 * 8.0;
    (apps.longest, bits / (list[link].0 * 1e6))
}

#[test]
fn an_outage_is_bridged_and_the_link_used_again() {
    for (list, link, most_ms) in [
        (&[(20.0, 20), (20.0, 20)], 0, 150),
        (&[(20.0, 20), (20.0, 20)], 1, 150),
        (&[(20.0, 20), (5.0, 200)], 0, 500),
        (&[(20.0, 20), (5.0, 200)], 1, 150),
    ] {
        let (longest, share) = outage(list, link);
        println!(
            "{list:?}, link {link}: {:.0} ms, then {share:.3}",
            longest.as_millis_f64()
        );
        assert!(
            longest <= Time::from_millis(most_ms),
            "{list:?} {link}: {longest}"
        );
        assert!(share > 0.7, "{list:?} {link}: {share}");
    }
}

/// Goodput in the two seconds after a link has fallen to a tenth, relative to the rate of the other link.
fn slowed(list: &[(f64, u64)], link: usize) -> f64 {
    let mut world = World::new(links(list), [Config::default(), Config::default()]);
    let mut apps = Bulk::default();
    world.at(Time::from_millis(1), 0);
    world.run(&mut apps, Time::from_secs(5));
    world.slow(link, 10);
    let before = apps.read;
    world.run(&mut apps, Time::from_secs(7));
    assert_eq!(world.violations, [""; 0]);
    (apps.read - before) as f64 * 4.0 / (list[1 - link].0 * 1e6)
}

#[test]
fn a_link_that_falls_to_a_tenth_costs_the_other_little() {
    for (list, link) in [
        (&[(20.0, 20), (20.0, 20)], 0),
        (&[(20.0, 20), (10.0, 200)], 1),
    ] {
        let share = slowed(list, link);
        println!("{list:?}, link {link}: {share:.3}");
        assert!(share > 0.9, "{list:?} {link}: {share}");
    }
}
