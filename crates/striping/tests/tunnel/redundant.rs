//! Each packet on all links: none is delayed when a link dies, and none arrives twice.

use ropewalk_quantities::Time;
use ropewalk_striping::tunnel::{Class, Scheduler};

use crate::harness::{CLIENT, Harness, RELAY};

const EVERY: Time = Time::from_millis(4);

#[test]
fn a_dead_link_costs_no_delay_and_copies_are_dropped() {
    for class in [Class::Thin, Class::InStep, Class::Urgent] {
        for dies in [0, 1] {
            let delays = [20, 30];
            let mut harness = Harness::scheduled(&delays, Scheduler::Redundant);
            harness.run_until(Time::from_secs(2));
            let mut sent = Vec::new();
            for number in 0..1000 {
                harness.links[dies].is_down = (250..750).contains(&number);
                harness.enqueue_of(class, CLIENT, number, 1000);
                sent.push(harness.now);
                harness.run_until(harness.now + EVERY);
            }
            harness.run_until(harness.now + Time::from_secs(1));
            let mut came: Vec<(u32, Time)> = Vec::new();
            for &(to, packet, at) in &harness.delivered {
                assert_eq!(to, RELAY);
                came.push((packet, at));
            }
            // Urgent ones are in no order.
            if class == Class::Urgent {
                came.sort();
            }
            let numbers = came.iter().map(|(packet, _)| *packet);
            assert!(numbers.eq(0..1000), "{class:?} {dies}");
            let delay = |&(packet, at): &(u32, Time)| at - sent[packet as usize];
            let longest = came.iter().map(delay).max().unwrap();
            let expected = Time::from_millis(delays[1 - dies]);
            println!("{class:?}, link {dies} dies: {longest}");
            assert!(
                longest <= expected.max(Time::from_millis(delays[0])),
                "{class:?}: {longest}"
            );
        }
    }
}
