//! A thin stream, 200 bytes every 10 ms, alone and next to a bulk stream.

use ropewalk_quantities::Time;
use ropewalk_striping::Config;

use crate::goodput::links;
use crate::messages::Messages;
use crate::simulation::Simulation;

const MESSAGE: usize = 200;
const EVERY: Time = Time::from_millis(10);

/// Delay from write to read at the 99th percentile, from 1 s on.
fn p99(beside_bulk: bool) -> Time {
    let list = [(20.0, 20), (5.0, 200)];
    let mut simulation = Simulation::new(links(&list), [Config::default(), Config::default()]);
    let mut apps = Messages::new(MESSAGE, EVERY, beside_bulk);
    simulation.at(Time::from_millis(1), 0);
    simulation.run(&mut apps, Time::from_secs(20));
    let delays = apps.delays.split_off(100).into_iter();
    let mut delays: Vec<Time> = delays.map(|(_, delay)| delay).collect();
    assert!(delays.len() > 1800);
    delays.sort();
    delays[delays.len() * 99 / 100]
}

#[test]
fn a_thin_stream_goes_by_the_fast_link() {
    for (beside_bulk, most) in [(false, 20), (true, 60)] {
        let p99 = p99(beside_bulk);
        println!(
            "beside bulk {beside_bulk}: p99 {:.1} ms",
            p99.as_millis_f64()
        );
        assert!(p99 < Time::from_millis(most), "{p99}");
    }
}
