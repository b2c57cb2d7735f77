//! Links to test with.
#![allow(dead_code, reason = "each test file uses a part of it")]

use rand_pcg::Pcg64Mcg;
use ropewalk_network::{Capacity, DirectionConfig, Link, Loss, Offer, Outage, QueueLimit, Trace};
use ropewalk_quantities::{Rate, Time};

pub fn us(micros: u64) -> Time {
    Time::from_micros(micros)
}

pub fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// 10 Mbit/s, 20 ms, room for 100 packets, and nothing goes wrong.
pub fn rate_config() -> DirectionConfig {
    DirectionConfig {
        capacity: Capacity::Rate(Rate::from_mbps(10.0)),
        delay: ms(20),
        jitter: None,
        loss: Loss::None,
        queue: QueueLimit::Packets(100),
    }
}

/// A trace, no delay, and room for everything.
pub fn trace_config(opportunities_ms: &[u32]) -> DirectionConfig {
    DirectionConfig {
        capacity: Capacity::Trace(
            Trace {
                name: "test".to_owned(),
                opportunities_ms: opportunities_ms.to_vec(),
            }
            .into(),
        ),
        delay: Time::ZERO,
        jitter: None,
        loss: Loss::None,
        queue: QueueLimit::Packets(u64::MAX),
    }
}

pub fn link<P: Copy>(config: &DirectionConfig) -> Link<P> {
    link_with(config, &[])
}

pub fn link_with<P: Copy>(config: &DirectionConfig, down: &[Outage]) -> Link<P> {
    let (loss, jitter) = (Pcg64Mcg::new(1), Pcg64Mcg::new(2));
    Link::new(config, config.delay * 2, down, loss, jitter)
}

/// Takes out all that is in flight: exits and packets.
pub fn drain<P: Copy>(link: &mut Link<P>) -> Vec<(Time, P)> {
    let mut drained = Vec::new();
    while let Some((exit, _)) = link.head() {
        let (popped, _, &packet) = link.pop();
        assert_eq!(popped, exit);
        drained.push((exit, packet));
    }
    drained
}

/// How many of so many full packets an idle link takes at once.
pub fn accepted_at_once(config: &DirectionConfig, offered: u64) -> usize {
    let mut link = link(config);
    (0..offered)
        .filter(|&order| link.push(Time::ZERO, 1500, order, ()) == Offer::Accepted)
        .count()
}
