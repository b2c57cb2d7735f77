//! Connections that send little.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::Class;

use crate::world::{CLIENT, RELAY, World};

const MS: fn(u64) -> Time = Time::from_millis;

/// Delays of packets of 200 bytes, sent each 10 ms for five seconds after the connection was opened.
fn delays() -> Vec<Time> {
    let mut world = World::new(&[10, 50]);
    world.run_until(Time::from_secs(3));
    world.enqueue_of(Class::Opening, CLIENT, 0, 60);
    let mut sent = vec![world.now];
    for packet in 1..500 {
        let next = world.now + MS(10);
        world.run_until(next);
        sent.push(world.now);
        world.enqueue_of(Class::InStep, CLIENT, packet, 200);
    }
    let end = world.now + MS(500);
    world.run_until(end);
    let arrived = world.delivered.iter().filter(|(end, ..)| *end == RELAY);
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
