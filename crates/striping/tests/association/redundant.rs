//! Redundant mode: a thin stream does not notice that a link dies, and a bulk stream has the rate of the best
//! link.

use ropewalk_quantities::Time;
use ropewalk_striping::Config;
use ropewalk_transport::SchedulerConfig;
use ropewalk_transport::scheduling::redundant::RedundantConfig;

use crate::bulk::Bulk;
use crate::goodput::links;
use crate::messages::Messages;
use crate::simulation::Simulation;

const MESSAGE: usize = 1000;
/// 2 Mbit/s.
const EVERY: Time = Time::from_millis(4);

fn config() -> Config {
    Config {
        scheduling: SchedulerConfig::Redundant(RedundantConfig::DEFAULT),
        ..Config::default()
    }
}

#[test]
fn a_dead_link_costs_a_thin_stream_no_delay() {
    for (list, dies) in [
        ([(20.0, 40), (10.0, 60)], 0),
        ([(20.0, 40), (10.0, 60)], 1),
        ([(20.0, 20), (5.0, 200)], 0),
        ([(20.0, 20), (5.0, 200)], 1),
    ] {
        let mut links = links(&list);
        links[dies].add_outage(Time::from_secs(5), Time::from_secs(8));
        let mut simulation = Simulation::new(links, [config(), config()]);
        let mut apps = Messages::new(MESSAGE, EVERY, false);
        simulation.at(Time::from_millis(1), 0);
        simulation.run(&mut apps, Time::from_secs(12));
        assert_eq!(simulation.violations, [""; 0]);
        // After both links have begun, no message takes longer than the slower link by itself.
        let settled = apps
            .delays
            .iter()
            .filter(|(written, _)| *written > Time::from_secs(2));
        let longest = settled.map(|(_, delay)| *delay).max().unwrap();
        let alone = Time::from_millis(list[0].1.max(list[1].1)) / 2;
        println!("{list:?}, link {dies}: {longest}, by the slower link {alone}");
        assert!(
            longest < alone + Time::from_millis(8),
            "{list:?} {dies}: {longest}"
        );
    }
}

#[test]
fn redundant_bulk_stream_has_rate_of_best_link() {
    for list in [
        [(20.0, 40), (10.0, 60)],
        [(20.0, 20), (20.0, 20)],
        [(20.0, 20), (5.0, 200)],
    ] {
        let mut simulation = Simulation::new(links(&list), [config(), config()]);
        let mut apps = Bulk::default();
        simulation.at(Time::from_millis(1), 0);
        simulation.run(&mut apps, Time::from_secs(2));
        let before = apps.read;
        simulation.run(&mut apps, Time::from_secs(12));
        assert_eq!(simulation.violations, [""; 0]);
        let goodput = (apps.read - before) as f64 * 8.0 / 10e6;
        println!("{list:?}: {goodput:.2} Mbit/s");
        assert!((0.9 * 20.0..21.0).contains(&goodput), "{list:?}: {goodput}");
    }
}
