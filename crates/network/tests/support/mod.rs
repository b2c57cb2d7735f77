//! Links for tests.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::ops::{Deref, DerefMut};

use rand_pcg::Pcg64Mcg;
use ropewalk_network::{
    Advance, Capacity, Direction, DirectionConfig, DropReason, Key, Link, LinkId, Loss, Network,
    Offer, Outage, QueueLimit, RouteId, Trace,
};
use ropewalk_quantities::{Rate, Time};

pub fn us(micros: u64) -> Time {
    Time::from_micros(micros)
}

pub fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// 10 Mbit/s, 20 ms, a queue of 100 packets, and no loss.
pub fn rate_config() -> DirectionConfig {
    DirectionConfig {
        capacity: Capacity::Rate(Rate::from_mbps(10.0)),
        delay: ms(20),
        jitter: None,
        slot: None,
        loss: Loss::None,
        queue: QueueLimit::Packets(100),
    }
}

/// A trace without delay and with an unlimited queue.
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
        slot: None,
        loss: Loss::None,
        queue: QueueLimit::Packets(u64::MAX),
    }
}

/// Network of one link in one direction.
pub struct Wire<P> {
    network: Network<P>,
    link: LinkId,
    there: RouteId,
    /// Names of the packets offered so far, in order.
    names: Vec<u64>,
}

pub fn link<P: Copy>(config: &DirectionConfig) -> Wire<P> {
    link_with(config, &[])
}

pub fn link_with<P: Copy>(config: &DirectionConfig, down: &[Outage]) -> Wire<P> {
    let streams = [1, 2, 3].map(Pcg64Mcg::new);
    link_drawing(config, config.delay * 2, down, streams)
}

/// Creates a link with these streams for loss, jitter and slots.
pub fn link_drawing<P: Copy>(
    config: &DirectionConfig,
    round_trip: Time,
    down: &[Outage],
    [loss, jitter, slot]: [Pcg64Mcg; 3],
) -> Wire<P> {
    let mut network = Network::new();
    let ends = [network.add_node(), network.add_node()];
    let direction = || {
        let streams = (loss.clone(), jitter.clone(), slot.clone());
        Link::new(config, round_trip, down, streams.0, streams.1, streams.2)
    };
    let link = network.add_directions(ends, [direction(), direction()]);
    let [there, _] = network.add_path(&[link]);
    Wire {
        network,
        link,
        there,
        names: Vec::new(),
    }
}

impl<P: Copy> Wire<P> {
    pub fn push(&mut self, now: Time, size: u32, name: u64, mut packet: P) -> Offer {
        self.names.push(name);
        self.network
            .offer(now, self.there, size, &mut packet, &mut ())
    }

    /// Returns when the next packet leaves, and its name.
    pub fn head(&self) -> Option<(Time, u64)> {
        let Key { time, order } = self.network.next()?;
        Some((time, self.names[order as usize - 1]))
    }

    pub fn pop(&mut self) -> (Time, u32, &P) {
        match self.network.advance(Time::MAX, &mut ()) {
            Advance::Arrived(arrival) => (arrival.time, arrival.size, arrival.packet),
            _ => panic!("a packet in flight"),
        }
    }
}

impl<P: Copy> Deref for Wire<P> {
    type Target = Link<P>;

    fn deref(&self) -> &Link<P> {
        self.network.link(self.link, Direction::Forward)
    }
}

impl<P: Copy> DerefMut for Wire<P> {
    fn deref_mut(&mut self) -> &mut Link<P> {
        self.network.link_mut(self.link, Direction::Forward)
    }
}

pub const QUEUE_FULL: Offer = Offer::Dropped(DropReason::QueueFull);
pub const OUTAGE: Offer = Offer::Dropped(DropReason::Outage);

/// Removes all packets in flight: exits and packets.
pub fn drain<P: Copy>(link: &mut Wire<P>) -> Vec<(Time, P)> {
    let mut drained = Vec::new();
    while let Some((exit, _)) = link.head() {
        let (popped, _, &packet) = link.pop();
        assert_eq!(popped, exit);
        drained.push((exit, packet));
    }
    drained
}

/// Returns how many of the offered full packets an idle link accepts at once.
pub fn accepted_at_once(config: &DirectionConfig, offered: u64) -> usize {
    let mut link = link(config);
    (0..offered)
        .filter(|&order| link.push(Time::ZERO, 1500, order, ()) == Offer::Accepted)
        .count()
}
