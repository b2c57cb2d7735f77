//! Share of the links' rates that the association uses, over a TCP without losses.
//!
//! A perfect TCP would reach 0.965 here, and the frames take a little of that.

use ropewalk_quantities::{Bytes, Rate, Time};
use ropewalk_striping::Config;

use crate::bulk::Bulk;
use crate::simulation::{Link, Simulation};

/// Rates in Mbit/s and round trips in ms.
pub fn links(list: &[(f64, u64)]) -> Vec<Link> {
    let link =
        |&(rate, rtt): &(f64, u64)| Link::new(Rate::from_mbps(rate), Time::from_millis(rtt) / 2);
    list.iter().map(link).collect()
}

const EIGHT: [(f64, u64); 8] = [
    (35.9, 40),
    (18.4, 50),
    (33.3, 60),
    (14.7, 80),
    (14.8, 70),
    (4.4, 120),
    (22.5, 45),
    (12.5, 55),
];

fn cases() -> [&'static [(f64, u64)]; 6] {
    [
        &[(20.0, 20), (20.0, 20)],
        &[(20.0, 20), (10.0, 60)],
        &[(20.0, 20), (5.0, 200)],
        &[(50.0, 10), (10.0, 100)],
        &EIGHT[..4],
        &EIGHT,
    ]
}

/// Goodput over the sum of the links' rates, 12 s from 3 s on.
fn share(list: &[(f64, u64)], buffer: u64) -> f64 {
    let config = Config {
        buffer: Bytes::new(buffer),
        ..Config::default()
    };
    let mut simulation = Simulation::new(links(list), [config.clone(), config]);
    let mut apps = Bulk::default();
    simulation.at(Time::from_millis(1), 0);
    simulation.run(&mut apps, Time::from_secs(3));
    let before = apps.read;
    simulation.run(&mut apps, Time::from_secs(15));
    assert_eq!(simulation.violations, [""; 0]);
    let all: f64 = list.iter().map(|(rate, _)| rate * 1e6).sum();
    (apps.read - before) as f64 * 8.0 / 12.0 / all
}

#[test]
fn links_add_up() {
    for (buffer, least) in [
        (4 << 20, [0.95; 6]),
        (1 << 20, [0.9, 0.9, 0.9, 0.9, 0.9, 0.6]),
    ] {
        let shares = cases().map(|list| share(list, buffer));
        println!("buffer {} KiB: {shares:.3?}", buffer >> 10);
        for (share, least) in shares.into_iter().zip(least) {
            assert!(share >= least, "buffer of {buffer}: {shares:.3?}");
        }
    }
}
