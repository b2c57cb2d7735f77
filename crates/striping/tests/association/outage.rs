//! Outage or slowdown of a link under a bulk stream: the longest time without a byte, and the use of the link
//! afterwards.

use ropewalk_quantities::Time;
use ropewalk_striping::{Config, Length};

use crate::bulk::Bulk;
use crate::goodput::links;
use crate::simulation::{RESPONDER, Simulation};

fn received(simulation: &Simulation<Length>, link: usize) -> u64 {
    let carriers = simulation.ends[RESPONDER].carriers();
    carriers
        .filter_map(|id| simulation.ends[RESPONDER].carrier_statistics(id))
        .filter(|carrier| carrier.link == link as u32)
        .map(|carrier| carrier.received.as_u64())
        .sum()
}

/// The longest gap from the outage at 5 s on, and the used share of the link in the second that begins 1 s
/// after its return at 8 s.
fn outage(list: &[(f64, u64)], link: usize) -> (Time, f64) {
    let mut links = links(list);
    links[link].add_outage(Time::from_secs(5), Time::from_secs(8));
    let mut simulation = Simulation::new(links, [Config::default(), Config::default()]);
    let mut apps = Bulk::timed_from(Time::from_secs(5));
    simulation.at(Time::from_millis(1), 0);
    simulation.run(&mut apps, Time::from_secs(9));
    let before = received(&simulation, link);
    simulation.run(&mut apps, Time::from_secs(10));
    assert_eq!(simulation.violations, [""; 0]);
    let bits = (received(&simulation, link) - before) as f64 * 8.0;
    (apps.longest, bits / (list[link].0 * 1e6))
}

#[test]
fn outage_is_bridged_and_link_reused() {
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
    let mut simulation = Simulation::new(links(list), [Config::default(), Config::default()]);
    let mut apps = Bulk::default();
    simulation.at(Time::from_millis(1), 0);
    simulation.run(&mut apps, Time::from_secs(5));
    simulation.slow(link, 10);
    let before = apps.read;
    simulation.run(&mut apps, Time::from_secs(7));
    assert_eq!(simulation.violations, [""; 0]);
    (apps.read - before) as f64 * 4.0 / (list[1 - link].0 * 1e6)
}

#[test]
fn slowdown_to_a_tenth_costs_other_link_little() {
    for (list, link) in [
        (&[(20.0, 20), (20.0, 20)], 0),
        (&[(20.0, 20), (10.0, 200)], 1),
    ] {
        let share = slowed(list, link);
        println!("{list:?}, link {link}: {share:.3}");
        assert!(share > 0.9, "{list:?} {link}: {share}");
    }
}
